package chats

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// timeSpan is the time from the first to the last event of something.
type timeSpan struct {
	from, to int64 // nanoseconds
	event    int
}

// Bubbles draws the chat of a run for HTML reports. The time of a block is that of the
// events with its id. A block without events has the time of its message.
func Bubbles(run *conformance.Run) []conformance.Bubble {
	var live Live
	for _, e := range run.Events {
		live.Add(e.Event)
	}
	chat, err := live.Chat()
	if err != nil {
		return []conformance.Bubble{{Event: -1, Kind: "notice", Name: "no chat", Text: err.Error()}}
	}
	spans := map[string]timeSpan{}
	turns := map[int]timeSpan{}
	errs := map[int]timeSpan{} // by turn
	for i, e := range run.Events {
		if id := e.Data.EventKey(); id != "" {
			s, ok := spans[id]
			if !ok {
				s = timeSpan{from: int64(e.At), event: i}
			}
			s.to = int64(e.At)
			spans[id] = s
		}
		if _, ok := e.Data.(event.Error); ok {
			errs[e.Turn] = timeSpan{int64(e.At), int64(e.At), i}
		}
		if e.Turn > 0 {
			s, ok := turns[e.Turn]
			if !ok {
				s = timeSpan{from: int64(e.At), event: -1}
			}
			s.to = int64(e.At)
			turns[e.Turn] = s
		}
	}
	var out []conformance.Bubble
	for i := range chat.Messages {
		m := &chat.Messages[i]
		whole, ok := turns[m.Turn]
		if own, known := spans[m.ID]; known && m.ID != "" {
			whole, ok = own, true
		}
		if !ok && len(out) > 0 {
			whole = timeSpan{out[len(out)-1].To, out[len(out)-1].To, -1}
		}
		if len(m.Blocks) == 0 {
			out = append(out, conformance.Bubble{From: whole.from, To: whole.to, Event: whole.event, Role: string(m.Role), Status: string(m.Status)})
		}
		out = appendBlocks(out, run, m, m.Blocks, spans, whole, 0)
		if m.Error != nil {
			at, ok := errs[m.Turn]
			if !ok {
				at = timeSpan{whole.to, whole.to, -1}
			}
			out = append(out, conformance.Bubble{From: at.from, To: at.to, Event: at.event, Role: string(m.Role), Kind: "error", Status: string(m.Status), Name: string(m.Error.Code), Text: m.Error.Message})
		}
	}
	return out
}

func appendBlocks(out []conformance.Bubble, run *conformance.Run, m *replay.Message, blocks []replay.Block, spans map[string]timeSpan, whole timeSpan, depth int) []conformance.Bubble {
	for i := range blocks {
		b := &blocks[i]
		if b.Kind == replay.KindError && depth == 0 {
			continue // it follows as the error of the message
		}
		s, ok := spans[b.ID]
		if !ok || b.ID == "" {
			s = whole
		}
		x := conformance.Bubble{From: s.from, To: s.to, Event: s.event, Role: string(m.Role), Kind: string(b.Kind), Status: string(b.Status), Depth: depth}
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
		x.Text = run.Recorded(text)
		out = append(out, x)
		out = appendBlocks(out, run, m, b.Blocks, spans, s, depth+1)
	}
	return out
}
