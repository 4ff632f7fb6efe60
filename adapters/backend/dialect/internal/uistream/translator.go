package uistream

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// Translator makes chunks from the events of a session, in order. The zero value is ready for
// use. It is not safe for concurrent use.
type Translator struct {
	// Approvals adds tool-approval-request, tool-approval-response and tool-output-denied, which
	// version 7 of ai needs to show requests by itself. Messages of version 6 are then invalid.
	Approvals bool

	turn       *turn
	components map[string]event.ComponentUpdate // with merged props
}

// turn is what the open stream holds.
type turn struct {
	n           int
	open        *part // the part that has no end yet
	blocks      map[blockKey]*block
	texts       int // blocks of visible text
	tools       map[string]*tool
	order       []string // of tools
	requests    map[string]*permission
	questions   map[string]*question
	agentBlocks []*agentBlock // blocks of sub-agents without an end
	agentTools  map[agentKey]*agentTool
	compactions int
}

// LeftOut lists the types of events that no chunk is made of, each with the reason.
func LeftOut() map[event.Type]string {
	return map[event.Type]string{
		event.TypeSessionReady: "a stream is a turn",
		event.TypeSessionEnd:   "a stream is a turn; it ends the stream of a turn that has no end",
	}
}

// Translate returns the chunks that an event becomes.
func (t *Translator) Translate(e event.Event) []Chunk {
	switch d := e.Data.(type) {
	case event.TurnStart:
		if e.SubagentID == "" {
			return append(t.abandon("another turn began"), t.begin(e, d)...)
		}
	case event.SessionEnd:
		return t.abandon("the session ended")
	case event.ComponentUpdate:
		t.mergeComponent(d)
	case event.ComponentRemove:
		delete(t.components, d.ComponentID)
	}
	if t.turn == nil || e.Turn != 0 && e.Turn != t.turn.n {
		return nil
	}
	if e.SubagentID != "" {
		if out, ok := t.turn.ofAgent(e); ok {
			return out
		}
	}
	return t.inTurn(e)
}

func (t *Translator) begin(e event.Event, d event.TurnStart) []Chunk {
	t.turn = &turn{
		n: e.Turn, blocks: map[blockKey]*block{}, tools: map[string]*tool{}, requests: map[string]*permission{},
		questions: map[string]*question{}, agentTools: map[agentKey]*agentTool{},
	}
	return []Chunk{{Type: "start", MessageID: fmt.Sprintf("%s/%d", e.SessionID, e.Turn), MessageMetadata: &Metadata{
		SessionID: e.SessionID, Turn: e.Turn, Cause: d.Cause, MessageIDs: d.MessageIDs,
	}}}
}

// inTurn translates what occurs while a turn is running.
func (t *Translator) inTurn(e event.Event) []Chunk {
	u := t.turn
	switch d := e.Data.(type) {
	case event.Delta:
		return u.addText(blockKey{id: d.BlockID}, d.Text)
	case event.Thinking:
		out := u.addText(blockKey{id: d.BlockID, reasoning: true}, d.Text)
		if d.Done {
			out = append(out, u.endPart("")...)
		}
		return out
	case event.BlockEnd:
		return u.endBlock(d)
	case event.ToolStart:
		out := u.startTool(d.ToolUseID, d.Tool, d.Input)
		if strings.HasPrefix(d.URL, "http://") || strings.HasPrefix(d.URL, "https://") {
			u.tools[d.ToolUseID].url = d.URL // others are no links
		}
		return out
	case event.ToolInput:
		return u.addInput(d)
	case event.ToolOutput:
		return u.addOutput(d)
	case event.ToolResult:
		return u.endTool(d)
	case event.PermissionRequest:
		return u.request(e, d, t.Approvals)
	case event.PermissionResolved:
		return u.resolve(e, d)
	case event.Interrupt:
		return u.interruptChunks(e, d)
	case event.InterruptResolved:
		return u.answer(e, d)
	case event.ComponentUpdate:
		return []Chunk{data("component", d.ComponentID, e, t.components[d.ComponentID])}
	case event.ComponentRemove:
		return []Chunk{data("component", d.ComponentID, e, removed{d.ComponentID, true})}
	case event.Usage:
		return metadata(Metadata{Usage: &d})
	case event.ModelChanged:
		return metadata(Metadata{Model: d.Value})
	case event.ModeChanged:
		return metadata(Metadata{Mode: d.Value})
	case event.Result:
		return u.result(d)
	case event.Error:
		return t.fail(e, d)
	case event.Done:
		return t.done(d)
	}
	return u.aside(e)
}

func metadata(m Metadata) []Chunk { return []Chunk{{Type: "message-metadata", MessageMetadata: &m}} }

// result adds the final text only to a turn without text, because otherwise it repeats that.
func (u *turn) result(d event.Result) []Chunk {
	var out []Chunk
	if u.texts == 0 && d.Text != "" {
		out = append(u.addText(blockKey{}, d.Text), u.endPart("")...)
	}
	if d.Stats != nil {
		out = append(out, metadata(Metadata{Stats: d.Stats})...)
	}
	return out
}

func (t *Translator) done(d event.Done) []Chunk {
	out := t.turn.closeAll()
	end := Chunk{Type: "finish", FinishReason: "stop"}
	if d != (event.Done{}) {
		end.MessageMetadata = &Metadata{Stopped: d.Stopped, Reason: d.Reason, ExitCode: d.ExitCode}
	}
	if d.Stopped {
		out = append(out, Chunk{Type: "abort", Reason: cmp.Or(d.Reason, "stopped")})
		end.FinishReason = "other"
	}
	t.turn = nil
	return append(out, end)
}

// fail ends the turn. The error comes after all else, because useChat reads nothing after it.
func (t *Translator) fail(e event.Event, d event.Error) []Chunk {
	if e.Turn == 0 {
		return nil // of the session; session_end follows
	}
	out := append(t.turn.closeAll(), metadata(Metadata{Error: &d})...)
	t.turn = nil
	return append(out, Chunk{Type: "error", ErrorText: cmp.Or(d.Message, string(d.Code))}, Chunk{Type: "finish", FinishReason: "error"})
}

// abandon ends a turn for which no done or error came.
func (t *Translator) abandon(reason string) []Chunk {
	if t.turn == nil {
		return nil
	}
	return t.done(event.Done{Stopped: true, Reason: reason})
}

// closeAll ends what is open at the end of a turn.
func (u *turn) closeAll() []Chunk {
	out := append(u.endPart(""), u.endAgentBlocks()...)
	for _, id := range u.order {
		if t := u.tools[id]; t.writing {
			out = append(out, u.dropInput(id))
		} else if !t.ended {
			out = append(out, u.endTool(event.ToolResult{ToolUseID: id, Status: event.ToolInterrupted, IsError: true})...)
		}
	}
	return out
}
