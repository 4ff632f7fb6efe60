package report

import (
	"strings"

	"github.com/turnspec/turnspec/conformance/judge"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/conformance"
)

// Bubble is a piece of the chat with the time in which it came: a user's
// message, or a block of the assistant's.
type Bubble struct {
	From   int64  `json:"from_ns"`
	To     int64  `json:"to_ns"`
	Event  int    `json:"event"` // index of the first event; -1: none names it
	Role   string `json:"role"`
	Kind   string `json:"kind,omitempty"`
	Depth  int    `json:"depth,omitzero"` // within sub-agents
	Status string `json:"status,omitempty"`
	Name   string `json:"name,omitempty"` // of the tool, the sub-agent, the code of a notice
	Text   string `json:"text,omitempty"`
	Size   int    `json:"size,omitzero"`
}

// span is when something began and ended.
type span struct {
	from, to int64 // nanoseconds
	event    int
}

// bubbles are the chat of a run. When a block came is told by the events that
// name it; what has no name came with its message.
func bubbles(run *conformance.Run) []Bubble {
	chat := judge.LiveChat(run)
	if chat == nil {
		return nil
	}
	spans := map[string]span{}
	turns := map[int]span{}
	errs := map[int]span{} // of turns
	for i, e := range run.Events {
		for _, id := range named(e.Data) {
			s, ok := spans[id]
			if !ok {
				s = span{from: int64(e.At), event: i}
			}
			s.to = int64(e.At)
			spans[id] = s
		}
		if _, ok := e.Data.(event.Error); ok {
			errs[e.Turn] = span{int64(e.At), int64(e.At), i}
		}
		if e.Turn > 0 {
			s, ok := turns[e.Turn]
			if !ok {
				s = span{from: int64(e.At), event: -1}
			}
			s.to = int64(e.At)
			turns[e.Turn] = s
		}
	}
	var out []Bubble
	for i := range chat.Messages {
		m := &chat.Messages[i]
		whole, ok := turns[m.Turn]
		if own, known := spans[m.ID]; known && m.ID != "" {
			whole, ok = own, true
		}
		if !ok && len(out) > 0 {
			whole = span{out[len(out)-1].To, out[len(out)-1].To, -1}
		}
		if len(m.Blocks) == 0 {
			out = append(out, Bubble{From: whole.from, To: whole.to, Event: whole.event, Role: string(m.Role), Status: string(m.Status)})
		}
		out = addBlocks(out, run, m, m.Blocks, spans, whole, 0)
		if m.Error != nil {
			at, ok := errs[m.Turn]
			if !ok {
				at = span{whole.to, whole.to, -1}
			}
			out = append(out, Bubble{From: at.from, To: at.to, Event: at.event, Role: string(m.Role), Kind: "error", Status: string(m.Status), Name: string(m.Error.Code), Text: m.Error.Message})
		}
	}
	return out
}

func addBlocks(out []Bubble, run *conformance.Run, m *replay.Message, blocks []replay.Block, spans map[string]span, whole span, depth int) []Bubble {
	for i := range blocks {
		b := &blocks[i]
		if b.Kind == replay.KindError && depth == 0 {
			continue // the message's own, which follows
		}
		s, ok := spans[b.ID]
		if !ok || b.ID == "" {
			s = whole
		}
		x := Bubble{From: s.from, To: s.to, Event: s.event, Role: string(m.Role), Kind: string(b.Kind), Status: string(b.Status), Depth: depth}
		if x.Status == "" {
			x.Status = string(m.Status)
		}
		text := b.Text
		switch {
		case b.Tool != nil:
			x.Name = b.Tool.Name
			text = strings.TrimSpace(strings.Join([]string{b.Tool.Command, b.Tool.FilePath, b.Tool.Pattern, b.Tool.Output}, "\n"))
		case b.Permission != nil:
			x.Name, text = b.Permission.Tool, string(b.Permission.Input)
		case b.Interrupt != nil:
			x.Name, text = b.Interrupt.Component, string(b.Interrupt.Props)
		case b.Subagent != nil:
			x.Name = b.Subagent.Name
		case b.Notice != nil:
			x.Name = string(b.Notice.Code)
		case b.Kind == replay.KindError:
			x.Name, text = string(b.Error.Code), b.Error.Message
		case len(b.Steps) > 0:
			var steps []string
			for _, st := range b.Steps {
				steps = append(steps, string(st.Status)+": "+st.Text)
			}
			text = strings.Join(steps, "\n")
		}
		x.Text, x.Size = bounded(run.Recorded(text))
		out = append(out, x)
		out = addBlocks(out, run, m, b.Blocks, spans, s, depth+1)
	}
	return out
}

// named are the ids of the blocks that an event is about.
func named(d event.Data) []string {
	switch d := d.(type) {
	case event.UserMessage:
		return []string{d.MessageID}
	case event.Delta:
		return []string{d.BlockID}
	case event.Thinking:
		return []string{d.BlockID}
	case event.BlockEnd:
		return []string{d.BlockID}
	case event.ToolStart:
		return []string{d.ToolUseID}
	case event.ToolOutput:
		return []string{d.ToolUseID}
	case event.ToolResult:
		return []string{d.ToolUseID}
	case event.Task:
		return []string{d.TaskID}
	case event.PermissionRequest:
		return []string{d.RequestID}
	case event.PermissionResolved:
		return []string{d.RequestID}
	case event.Interrupt:
		return []string{d.InterruptID}
	case event.InterruptResolved:
		return []string{d.InterruptID}
	case event.Checkpoint:
		return []string{d.CheckpointID}
	}
	return nil
}
