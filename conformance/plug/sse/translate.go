package sse

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
)

// translator is what has been told of a sidecar that speaks the plain form. It is
// guarded by the session's lock.
type translator struct {
	ready *event.SessionReady // not told yet
	early []event.Data        // behind it
	begun bool

	turn    int
	running bool
	stopped bool // its stop was asked for

	blocks int
	block  string          // the open block of text that was made here, or ""
	seen   map[string]bool // of some

	calls  []call          // that have no result
	asks   []ask           // that are not resolved
	byUser map[string]bool // questions that were answered here
}

// call is one of the main agent, or of a sub-agent.
type call struct{ id, subagent string }

// ask is a question whose end was not told.
type ask struct{ id, tool string }

// begin opens a session of the plain form. session_ready waits for the runtime's
// id of the session, which may come with the first message only.
func (x *session) begin(d event.SessionReady) {
	x.ready, x.begun = &d, true
	if d.ProviderSessionID != "" {
		x.provider = d.ProviderSessionID
		x.release()
	}
}

// release tells session_ready, and what waits behind it.
func (x *session) release() {
	if x.ready == nil {
		return
	}
	d, early := *x.ready, x.early
	x.ready, x.early = nil, nil
	x.tell(d, 0, "")
	for _, e := range early {
		x.emit(e)
	}
}

// emit tells what is made here of the turn that runs, or ran last.
func (x *session) emit(d event.Data) {
	if x.ready != nil {
		x.early = append(x.early, d)
		return
	}
	x.tell(d, x.turnOf(d), "")
}

// turnOf is the turn that an event belongs to.
func (x *session) turnOf(d event.Data) int {
	if x.running {
		return x.turn
	}
	switch d.(type) {
	case event.Delta, event.Thinking, event.BlockEnd, event.Result, event.Done, event.Error:
		return x.turn // it comes late: it was to be told before the end
	}
	return 0 // a call may outlive its turn; the rest is the session's
}

func (x *session) tell(d event.Data, turn int, subagent string) {
	x.seq++
	x.Add(event.Event{Data: d, TS: time.Now().UTC(), Seq: x.seq, SessionID: x.name, Turn: turn, SubagentID: subagent})
}

// plain tells an event of the plain form.
func (x *session) plain(e envelope) error {
	x.lacks["seq"], x.lacks["ts"] = true, true
	m, err := members(e.Data)
	if err != nil {
		return err
	}
	m.keep(e.Type)
	x.fill(e.Type, m)
	e.Seq, e.Turn, e.TS = 1, 0, time.Now().UTC().Format(time.RFC3339Nano) // tell fills them in
	if e.Data, err = json.Marshal(m); err != nil {
		return err
	}
	out, err := e.decode()
	if err != nil {
		return err
	}
	if d, is := out.Data.(event.SessionReady); is {
		x.readied(d)
		return nil
	}
	x.release()
	if d, is := out.Data.(event.Result); is && d.Text == "" {
		return nil // a turn that has none
	}
	if _, is := out.Data.(event.Delta); !is && out.SubagentID == "" {
		x.endBlock(event.BlockComplete)
	}
	x.follows(out)
	return nil
}

// follows tells an event and notes what follows from it.
func (x *session) follows(e event.Event) {
	switch d := e.Data.(type) {
	case event.Thinking:
		x.seen["thinking.done"] = x.seen["thinking.done"] || d.Done
	case event.ToolStart:
		x.seen["tool_start.is_file_read"] = x.seen["tool_start.is_file_read"] || d.IsFileRead
		x.calls = append(x.calls, call{d.ToolUseID, e.SubagentID})
	case event.ToolResult:
		x.calls = slices.DeleteFunc(x.calls, func(c call) bool { return c.id == d.ToolUseID })
	case event.PermissionRequest:
		x.asks = append(x.asks, ask{d.RequestID, d.ToolName})
	case event.PermissionResolved:
		x.asks = slices.DeleteFunc(x.asks, func(a ask) bool { return a.id == d.RequestID })
	case event.Done:
		if d.Stopped {
			x.interrupt()
		}
	case event.Error:
		x.interrupt()
	}
	x.tell(e.Data, x.turnOf(e.Data), e.SubagentID)
	switch e.Data.(type) {
	case event.Done, event.Error:
		if e.SubagentID == "" {
			x.running = false
		}
	}
}

// interrupt ends the calls of a turn that was broken off, as who stops it does.
func (x *session) interrupt() {
	calls := x.calls
	x.calls = nil
	for _, c := range calls {
		x.lacks["tool_result.status"] = true
		x.tell(event.ToolResult{ToolUseID: c.id, IsError: true, Status: event.ToolInterrupted}, x.turn, c.subagent)
	}
}

// readied takes a session_ready: one when the session is created, and one more
// when the runtime tells its id.
func (x *session) readied(d event.SessionReady) {
	switch {
	case d.ProviderSessionID == "" || d.ProviderSessionID == x.provider:
		return
	case x.ready == nil: // too late to be the first event; it is needed to resume
		x.lacks["session_ready.provider_session_id"] = true
		x.provider = d.ProviderSessionID
		x.tell(d, 0, "")
		return
	}
	x.provider = d.ProviderSessionID
	x.ready.ProviderSessionID = d.ProviderSessionID
	if d.Model != "" {
		x.ready.Model = d.Model
	}
	x.release()
}

// leave tells the end of a session. One that was asked for ends no turn: the
// sidecar owes that.
func (x *session) leave(asked bool) {
	x.release()
	reason := "closed"
	if !asked {
		reason = "the sidecar let it go"
	}
	if x.running {
		x.endBlock(event.BlockInterrupted)
		x.interrupt()
		if !asked {
			x.emit(event.Error{Code: event.ErrorCrash, Message: reason})
		}
		x.running = false
	}
	x.told = true
	x.tell(event.SessionEnd{Reason: reason}, 0, "")
}

func (x *session) endBlock(s event.BlockStatus) {
	if x.block != "" {
		x.emit(event.BlockEnd{BlockID: x.block, Status: s})
		x.block = ""
	}
}

// answered notes that the user has answered.
func (x *session) answered(id string) { x.byUser[id] = true }

// fill fills in what the plain form leaves out of an event's data.
func (x *session) fill(t event.Type, m data) {
	switch t {
	case event.TypeSessionReady:
		m.set("session_id", x.name)
		m.missing("runtime", x.s.Of)
	case event.TypeDelta:
		if m["block_id"] == nil {
			x.lacks["delta.block_id"], x.lacks["block_end"] = true, true
			if x.block == "" {
				x.blocks++
				x.block = strconv.Itoa(x.turn) + "." + strconv.Itoa(x.blocks)
			}
			m.set("block_id", x.block)
		}
		if m["message_id"] == nil {
			m["message_id"] = m["block_id"]
		}
	case event.TypeThinking:
		m.missing("text", "")
	case event.TypeToolResult:
		x.fillResult(m)
	case event.TypePermissionRequest:
		if m.missing("request_id", "p"+strconv.Itoa(x.count)) {
			x.lacks["permission_resolved"] = true
		}
		if m["tool_use_id"] == nil {
			x.lacks["permission_request.tool_use_id"] = true
		}
		if m.missing("tool_input", struct{}{}) {
			x.lacks["permission_request.tool_input"] = true
		}
	case event.TypePermissionResolved:
		x.fillResolved(m)
	case event.TypeInterruptResolved:
		if m.missing("by", event.ByUser) {
			x.lacks["interrupt_resolved"] = true
		}
		m.missing("value", nil)
	case event.TypeComponentUpdate:
		if name := m["name"]; name != nil && m["component_name"] == nil {
			m["component_name"] = name
		}
		delete(m, "name")
	case event.TypeError:
		if code := m.text("code"); !slices.Contains(event.ErrorCodes(), event.ErrorCode(code)) {
			x.lacks["error.code"] = true
			m.set("code", event.ErrorUnknown)
		}
	}
}

func (x *session) fillResult(m data) {
	switch output := m["output"]; {
	case output == nil:
		x.lacks["tool_result.output"] = true
		m.set("output", "")
	case output.Kind() != '"':
		var blocks []struct {
			Text *string `json:"text"`
		}
		var texts []string
		if json.Unmarshal(output, &blocks, lenient) == nil {
			for _, b := range blocks {
				if b.Text != nil {
					texts = append(texts, *b.Text)
				}
			}
		}
		if len(texts) < len(blocks) || blocks == nil {
			x.lacks["tool_result.output"] = true
		}
		m.set("output", strings.Join(texts, "\n"))
	}
	m.missing("is_error", false)
	if m["status"] == nil {
		x.lacks["tool_result.status"] = true
		status := event.ToolOK
		switch failed := string(m["is_error"]) == "true"; {
		case failed && x.stopped:
			status = event.ToolInterrupted // there is no other word for it
		case failed:
			status = event.ToolError
		}
		m.set("status", status)
	}
}

// fillResolved finds the question that an end is told of.
func (x *session) fillResolved(m data) {
	if m["request_id"] == nil {
		x.lacks["permission_resolved"] = true
		id := "unasked"
		for _, a := range slices.Backward(x.asks) {
			if a.tool == m.text("tool_name") {
				id = a.id
			}
		}
		m.set("request_id", id)
	}
	if m["decision"] == nil {
		x.lacks["permission_resolved"] = true
		d := event.DecisionDeny
		if string(m["allowed"]) == "true" {
			d = event.DecisionAllow
		}
		m.set("decision", d)
	}
	if m["by"] == nil {
		x.lacks["permission_resolved"] = true
		by := event.ByPolicy
		if x.byUser[m.text("request_id")] {
			by = event.ByUser
		}
		m.set("by", by)
	}
}

// declared reports whether the sidecar sends such events.
func (x *session) declared(t event.Type) bool { return slices.Contains(x.health.Events, t) }
