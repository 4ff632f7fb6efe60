package agui

import (
	"cmp"
	"slices"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// Reply makes the run with which a server answers a request of HttpAgent: the events of a turn, up
// to its end, or up to the first permission request or question that waits for an answer. That ends
// the run with the outcome interrupt. The client then sends resume, and another Reply goes on, with
// another run.
//
// If text is retracted or replaced, MESSAGES_SNAPSHOT has the messages without it: those that the
// client sent and those of the turn. A client shows reasoning that a snapshot leaves out, so retracted
// reasoning becomes empty.
//
// It is not safe for concurrent use.
type Reply struct {
	in       *Input
	answered func(id string) bool // reports whether a request was answered already
	t        Translator
	ours     bool
	messages []*message // of the turn
	failure  string     // the last error of the session
}

// NewReply returns the Reply to a request.
func (in *Input) NewReply(answered func(id string) bool) *Reply {
	return &Reply{in: in, answered: answered}
}

// message is a message as MESSAGES_SNAPSHOT has it.
type message struct {
	ID            string     `json:"id"`
	Role          string     `json:"role"`
	Content       *string    `json:"content,omitzero"`
	ToolCalls     []toolCall `json:"toolCalls,omitempty"`
	ToolCallID    string     `json:"toolCallId,omitempty"`
	SubagentRunID string     `json:"subagentRunId,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Skip takes an event that the client has received with an earlier run.
func (r *Reply) Skip(e event.Event) { r.events(e) }

// Begin returns the first events, if the turn began with skipped events.
func (r *Reply) Begin() []Event {
	if !r.ours || r.t.run == nil {
		return nil
	}
	run := r.t.run
	run.closeParts() // as the earlier run ended
	out := append([]Event{r.started(Event{})}, r.resync()...)
	if run.said = !r.t.state.empty(); run.said {
		out = append(out, r.t.state.snapshot())
	}
	for _, a := range run.ordered {
		if a.running {
			out = append(out, a.started)
		}
	}
	return out
}

// Translate returns the events that an event becomes. The one that Ends is the last of the run.
func (r *Reply) Translate(e event.Event) []Event {
	out := r.events(e)
	if r.t.run == nil || !r.ours {
		return out
	}
	var asks interrupt
	switch d := e.Data.(type) {
	case event.PermissionRequest:
		asks = r.t.run.permission(d)
	case event.Interrupt:
		asks = interrupt{ID: d.InterruptID, Reason: "input_required", Message: d.ComponentName, Metadata: dialect.Marshal(map[string]any{"turnspec": d})}
	default:
		return out
	}
	if r.answered(asks.ID) {
		return out
	}
	asks.SubagentRunID = r.t.run.runOf(e.SubagentID)
	out = append(out, r.t.run.closeParts()...)
	for _, a := range r.t.run.ordered {
		if a.running {
			end := Event{Type: "SUBAGENT_FINISHED", SubagentRunID: r.t.run.runOf(a.id), Outcome: &Outcome{Type: "suspended"}}
			if a.id == e.SubagentID {
				end.Outcome.InterruptIDs = []string{asks.ID}
			}
			out = append(out, end)
		}
	}
	return append(out, r.named(Event{Type: "RUN_FINISHED", Outcome: &Outcome{Type: "interrupt", Interrupts: []interrupt{asks}}}))
}

// approvalSchema is the schema of the payload that answers a permission request.
var approvalSchema = event.Raw(`{"type":"object","properties":{"approved":{"type":"boolean"},"message":{"type":"string"},"editedArgs":{"type":"object"}},"required":["approved"]}`)

func (r *run) permission(d event.PermissionRequest) interrupt {
	i := interrupt{ID: d.RequestID, Reason: "tool_call", Message: cmp.Or(d.Reason, "Allow "+d.ToolName+"?"), ResponseSchema: approvalSchema}
	for k := range r.tools {
		if k.id == d.ToolUseID {
			i.ToolCallID = k.id
		}
	}
	i.Metadata = dialect.Marshal(map[string]any{"turnspec": d})
	return i
}

// closeParts ends the messages and the inputs that are open, without their blocks and calls.
func (r *run) closeParts() []Event {
	var out []Event
	for _, b := range r.order {
		out = append(out, r.endMessage(b.key, "")...)
	}
	for _, k := range r.toolOrder {
		if t := r.tools[k]; t.writing {
			t.writing = false
			out = append(out, Event{Type: "TOOL_CALL_END", ToolCallID: k.id, SubagentRunID: r.runOf(k.agent)})
		}
	}
	return out
}

func (r *Reply) events(e event.Event) []Event {
	switch d := e.Data.(type) {
	case event.SessionReady:
		r.failure = ""
	case event.TurnStart:
		if e.SubagentID == "" {
			want := r.in.Message
			r.ours = want == nil || len(d.MessageIDs) == 0 || slices.Contains(d.MessageIDs, want.ID)
			r.messages = nil
		}
	case event.Error:
		if e.Turn == 0 {
			r.failure = cmp.Or(d.Message, string(d.Code))
		}
	case event.SessionEnd:
		if r.t.run == nil || !r.ours {
			r.t.Translate(e)
			return []Event{{Type: "RUN_ERROR", Message: cmp.Or(r.failure, "the session ended")}}
		}
	}
	var out []Event
	for _, e := range r.t.Translate(e) {
		if r.ours {
			out = append(out, r.replyEvent(e)...)
		}
	}
	return out
}

// replyEvent returns what an event of the Translator becomes.
func (r *Reply) replyEvent(e Event) []Event {
	switch {
	case e.Type == "RUN_STARTED":
		return append([]Event{r.started(e)}, r.resync()...)
	case e.Type == "RUN_FINISHED":
		return []Event{r.named(e)}
	case e.takesBack != nil:
		r.takeBack(*e.takesBack)
		return []Event{r.snapshot(e.Timestamp)}
	}
	r.apply(e)
	return []Event{e}
}

// started returns RUN_STARTED of the client's run.
func (r *Reply) started(e Event) Event {
	e.Type, e.ProtocolVersion = "RUN_STARTED", ProtocolVersion
	return r.named(e)
}

func (r *Reply) named(e Event) Event {
	e.ThreadID, e.RunID = r.in.Session, r.in.runID
	return e
}

// find returns a message of the turn.
func (r *Reply) find(id, role string) *message {
	for _, m := range slices.Backward(r.messages) {
		if m.ID == id && m.Role == role {
			return m
		}
	}
	return nil
}

// apply adds an event to the messages, as a client does.
func (r *Reply) apply(e Event) {
	add := func(id, role string) *message {
		m := &message{ID: id, Role: role, SubagentRunID: e.SubagentRunID}
		r.messages = append(r.messages, m)
		return m
	}
	var delta string
	if e.Delta != nil {
		_ = dialect.Unmarshal(e.Delta, &delta) // the delta of STATE_DELTA is no text
	}
	switch e.Type {
	case "TEXT_MESSAGE_START":
		add(e.MessageID, "assistant").Content = new(string)
	case "REASONING_MESSAGE_START":
		add(e.MessageID, "reasoning").Content = new(string)
	case "TEXT_MESSAGE_CONTENT":
		*r.find(e.MessageID, "assistant").Content += delta
	case "REASONING_MESSAGE_CONTENT":
		*r.find(e.MessageID, "reasoning").Content += delta
	case "TOOL_CALL_START":
		c := toolCall{ID: e.ToolCallID, Type: "function"}
		c.Function.Name = e.ToolCallName
		add(e.ToolCallID, "assistant").ToolCalls = []toolCall{c}
	case "TOOL_CALL_ARGS":
		r.find(e.ToolCallID, "assistant").ToolCalls[0].Function.Arguments += delta
	case "TOOL_CALL_RESULT":
		m := add(e.MessageID, "tool")
		m.ToolCallID, m.Content = e.ToolCallID, e.Content
	}
}

// takeBack removes messages that were retracted or replaced.
func (r *Reply) takeBack(w withdrawn) {
	last := w.MessageIDs[len(w.MessageIDs)-1]
	r.messages = slices.DeleteFunc(r.messages, func(m *message) bool {
		if !slices.Contains(w.MessageIDs, m.ID) {
			return false
		}
		text := ""
		if m.ID == last {
			text = w.Text
		}
		m.Content = &text
		return m.Role != "reasoning" && text == ""
	})
}

// before returns the messages that the client sent, up to the last one of the user, and those after it.
func (in *Input) before() (before, after []event.Raw) {
	for i, raw := range slices.Backward(in.messages) {
		if decodeMessage(raw).Role == "user" {
			return in.messages[:i+1], in.messages[i+1:]
		}
	}
	return in.messages, nil
}

func decodeMessage(raw event.Raw) (m inputMessage) {
	_ = dialect.Unmarshal(raw, &m) // its members are empty then
	return m
}

// has reports whether the turn has a message.
func (r *Reply) has(id string) bool {
	return slices.ContainsFunc(r.messages, func(m *message) bool { return m.ID == id })
}

// resync returns the messages, if the client has more of the turn than was skipped: its last stream was cut.
func (r *Reply) resync() []Event {
	_, after := r.in.before()
	if !slices.ContainsFunc(after, func(raw event.Raw) bool { return !r.has(decodeMessage(raw).ID) }) {
		return nil
	}
	return []Event{r.snapshot(0)}
}

// snapshot returns the messages up to the turn, and those of the turn.
func (r *Reply) snapshot(at int64) Event {
	before, after := r.in.before()
	var all []any
	for _, raw := range before {
		all = append(all, raw)
	}
	for _, m := range r.messages {
		all = append(all, m)
	}
	for _, raw := range after {
		if m := decodeMessage(raw); m.Role == "reasoning" && !r.has(m.ID) {
			all = append(all, &message{ID: m.ID, Role: m.Role, Content: new(string)})
		}
	}
	return Event{Type: "MESSAGES_SNAPSHOT", Timestamp: at, Messages: dialect.Marshal(all)}
}
