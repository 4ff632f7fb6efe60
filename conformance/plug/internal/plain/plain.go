package plain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// Translator emits the events of the plain form as those of a session with turns. Its methods
// are called with Mu held.
type Translator struct {
	*plug.Session
	Dialect *Dialect // nil: the program writes events of package event
	Stopped bool     // the running turn was

	ready    *event.SessionReady // to emit when the runtime's id of the session is known
	provider string              // the runtime's id of the session
	seen     map[string]bool     // members and types that were
	count    int                 // of events

	calls  []toolCall      // that have no result
	asked  []permission    // that are not resolved
	byUser map[string]bool // requests that Answer has answered
}

// New returns the translator of a session.
func New(s *plug.Session, d *Dialect) *Translator {
	return &Translator{Session: s, Dialect: d, seen: map[string]bool{}, byUser: map[string]bool{}}
}

// toolCall is a call of the main agent or of a sub-agent.
type toolCall struct{ id, subagent string }

type permission struct{ id, tool string }

// HoldReady holds session_ready back until the runtime's id of the session is
// known: a sidecar may get it with the first message only.
func (x *Translator) HoldReady(d event.SessionReady) {
	x.ready = &d
	if d.ProviderSessionID != "" {
		x.provider = d.ProviderSessionID
		x.Release()
	}
}

// Release emits session_ready and the events that are held until then.
func (x *Translator) Release() {
	if !x.Ready {
		x.EmitReady(*x.ready, nil)
	}
}

// Add adds an event of the plain form.
func (x *Translator) Add(e plug.Envelope) error {
	x.count++
	x.MarkUnsupported("seq", "ts")
	e.SessionID = x.ID
	m, err := ParseMembers(e.Data)
	if err != nil {
		return err
	}
	m.dropUnknown(e.Type)
	x.fill(e.Type, m)
	if e.Data, err = json.Marshal(m); err != nil {
		return err
	}
	out, err := e.DecodeData()
	if err != nil {
		return err
	}
	if d, is := out.Data.(event.SessionReady); is {
		x.handleReady(d)
		return nil
	}
	x.Release()
	if d, is := out.Data.(event.Result); is && d.Text == "" {
		return nil // of a turn without a result
	}
	if _, is := out.Data.(event.Delta); !is && out.SubagentID == "" {
		x.EndBlock(event.BlockComplete)
	}
	x.emit(out)
	return nil
}

// emit emits an event and updates the state.
func (x *Translator) emit(e event.Event) {
	switch d := e.Data.(type) {
	case event.Thinking:
		x.seen["thinking.done"] = x.seen["thinking.done"] || d.Done
	case event.ToolStart:
		x.seen["tool_start.is_file_read"] = x.seen["tool_start.is_file_read"] || d.IsFileRead
		x.calls = append(x.calls, toolCall{d.ToolUseID, e.SubagentID})
	case event.ToolResult:
		x.calls = slices.DeleteFunc(x.calls, func(c toolCall) bool { return c.id == d.ToolUseID })
	case event.PermissionRequest:
		x.asked = append(x.asked, permission{d.RequestID, d.ToolName})
	case event.PermissionResolved:
		x.asked = slices.DeleteFunc(x.asked, func(a permission) bool { return a.id == d.RequestID })
	case event.Done:
		if d.Stopped {
			x.InterruptCalls()
		}
	case event.Error:
		x.InterruptCalls()
	}
	x.EmitIn(e.Data, x.TurnOf(e.Data), e.SubagentID)
	if _, isTask := e.Data.(event.Task); isTask || e.SubagentID == "" {
		x.leaveTasks(e.Data)
	}
	switch e.Data.(type) {
	case event.Done, event.Error:
		if e.SubagentID == "" {
			x.Running = false
		}
	}
}

// InterruptCalls ends the open calls of a turn that was broken off.
func (x *Translator) InterruptCalls() {
	calls := x.calls
	x.calls = nil
	for _, c := range calls {
		x.MarkUnsupported("tool_result.status")
		x.EmitIn(event.ToolResult{ToolUseID: c.id, IsError: true, Status: event.ToolInterrupted}, x.Turn, c.subagent)
	}
}

// handleReady handles a session_ready. A sidecar may emit one when the session is
// created and another one when the runtime's id is known.
func (x *Translator) handleReady(d event.SessionReady) {
	if d.ProviderSessionID == "" || d.ProviderSessionID == x.provider {
		return
	}
	x.provider = d.ProviderSessionID
	if x.Ready { // too late to be the first event, but a resume needs the id
		x.MarkUnsupported("session_ready.provider_session_id")
		x.EmitIn(d, 0, "")
		return
	}
	x.ready.ProviderSessionID = d.ProviderSessionID
	x.ready.Model = cmp.Or(d.Model, x.ready.Model)
	x.Release()
}

// fill fills in what the data of an event of the plain form lacks.
func (x *Translator) fill(t event.Type, m Members) {
	switch t {
	case event.TypeSessionReady:
		m.Set("session_id", x.ID)
		m.SetMissing("runtime", x.Program.Of)
	case event.TypeDelta:
		if m["block_id"] == nil {
			x.MarkUnsupported("delta.block_id", "block_end")
			if x.Block == "" {
				x.Block = x.NextBlock()
			}
			m.Set("block_id", x.Block)
		}
		if m["message_id"] == nil {
			m["message_id"] = m["block_id"]
		}
	case event.TypeThinking:
		m.SetMissing("text", "")
	case event.TypeToolResult:
		x.fillResult(m)
	case event.TypePermissionRequest:
		if m.SetMissing("request_id", "p"+strconv.Itoa(x.count)) {
			x.MarkUnsupported("permission_resolved")
		}
		if m["tool_use_id"] == nil {
			x.MarkUnsupported("permission_request.tool_use_id")
		}
		if m.SetMissing("tool_input", struct{}{}) {
			x.MarkUnsupported("permission_request.tool_input")
		}
	case event.TypePermissionResolved:
		x.fillResolved(m)
	case event.TypeInterruptResolved:
		if m.SetMissing("by", event.ByUser) {
			x.MarkUnsupported("interrupt_resolved")
		}
		m.SetMissing("value", nil)
	case event.TypeComponentUpdate:
		if name := m["name"]; name != nil && m["component_name"] == nil {
			m["component_name"] = name
		}
		delete(m, "name")
	case event.TypeError:
		if code := m.Text("code"); !slices.Contains(event.ErrorCodes(), event.ErrorCode(code)) {
			x.MarkUnsupported("error.code")
			m.Set("code", event.ErrorUnknown)
		}
	}
}

func (x *Translator) fillResult(m Members) {
	switch output := m["output"]; {
	case output == nil:
		x.MarkUnsupported("tool_result.output")
		m.Set("output", "")
	case output.Kind() != '"':
		var blocks []struct {
			Text *string `json:"text"`
		}
		var texts []string
		if json.Unmarshal(output, &blocks, plug.Lenient) == nil {
			for _, b := range blocks {
				if b.Text != nil {
					texts = append(texts, *b.Text)
				}
			}
		}
		if len(texts) < len(blocks) || blocks == nil {
			x.MarkUnsupported("tool_result.output")
		}
		m.Set("output", strings.Join(texts, "\n"))
	}
	m.SetMissing("is_error", false)
	if m["status"] == nil {
		x.MarkUnsupported("tool_result.status")
		status := event.ToolOK
		switch failed := string(m["is_error"]) == "true"; {
		case failed && x.Stopped:
			status = event.ToolInterrupted // the plain form has no other status for it
		case failed:
			status = event.ToolError
		}
		m.Set("status", status)
	}
}

// fillResolved fills in which request was resolved, and how.
func (x *Translator) fillResolved(m Members) {
	if m["request_id"] == nil {
		x.MarkUnsupported("permission_resolved")
		id := "unasked"
		for _, a := range slices.Backward(x.asked) {
			if a.tool == m.Text("tool_name") {
				id = a.id
			}
		}
		m.Set("request_id", id)
	}
	if m["decision"] == nil {
		x.MarkUnsupported("permission_resolved")
		d := event.DecisionDeny
		if string(m["allowed"]) == "true" {
			d = event.DecisionAllow
		}
		m.Set("decision", d)
	}
	if m["by"] == nil {
		x.MarkUnsupported("permission_resolved")
		by := event.ByPolicy
		if x.byUser[m.Text("request_id")] {
			by = event.ByUser
		}
		m.Set("by", by)
	}
}

// BeginMessage begins the turn of a message.
func (x *Translator) BeginMessage(m adapters.Message) {
	x.Stopped = false
	x.BeginTurn(m)
}

// NoteAnswer notes that Answer answers a request.
func (x *Translator) NoteAnswer(id string) { x.byUser[id] = true }

// LeaveTurn ends the turn that runs, whose other events are not read.
func (x *Translator) LeaveTurn() {
	x.MarkUnsupported("done", "tool_result.status")
	x.Interrupt()
	x.Emit(event.Done{Stopped: true})
	x.Running = false
}

// Interrupt closes what is open.
func (x *Translator) Interrupt() {
	x.Release()
	x.EndBlock(event.BlockInterrupted)
	x.InterruptCalls()
}
