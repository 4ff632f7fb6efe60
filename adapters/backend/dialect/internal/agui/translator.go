package agui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// Translator makes AG-UI events from the events of a session, in order. The zero value is ready
// for use. It is not safe for concurrent use.
type Translator struct {
	run   *run
	state state
}

// run is what the open run holds.
type run struct {
	turn      int
	thread    string
	id        string
	said      bool // the state was written
	blocks    map[blockKey]*block
	order     []*block // in the order in which they began
	texts     int      // blocks of visible text of the main agent
	tools     map[toolKey]*tool
	toolOrder []toolKey
	agents    map[string]*agent
	ordered   []*agent
}

// LeftOut lists the types of events that no AG-UI event is made of, each with the reason.
func LeftOut() map[event.Type]string {
	return map[event.Type]string{
		event.TypeSessionReady: "a run is a turn",
		event.TypeSessionEnd:   "a run is a turn; it ends the run of a turn that has no end",
	}
}

// Translate returns the AG-UI events that an event becomes.
func (t *Translator) Translate(e event.Event) []Event {
	out := t.translate(e)
	for i := range out {
		if !e.TS.IsZero() {
			out[i].Timestamp = e.TS.UnixMilli()
		}
	}
	return out
}

func (t *Translator) translate(e event.Event) []Event {
	switch d := e.Data.(type) {
	case event.TurnStart:
		if e.SubagentID == "" {
			return append(t.abandon("another turn began"), t.begin(e, d)...)
		}
	case event.SessionEnd:
		return t.abandon("the session ended")
	}
	if t.run == nil || e.Turn != 0 && e.Turn != t.run.turn {
		t.state.change(e)
		return nil
	}
	var out []Event
	if e.SubagentID != "" && t.run.agents[e.SubagentID] == nil && !isTask(e) {
		out = t.run.startAgent(event.Task{TaskID: e.SubagentID})
	}
	return append(out, t.inRun(e)...)
}

func isTask(e event.Event) bool {
	_, ok := e.Data.(event.Task)
	return ok
}

func (t *Translator) begin(e event.Event, d event.TurnStart) []Event {
	t.run = &run{
		turn: e.Turn, thread: e.SessionID, id: fmt.Sprintf("%s/%d", e.SessionID, e.Turn),
		blocks: map[blockKey]*block{}, tools: map[toolKey]*tool{}, agents: map[string]*agent{},
	}
	out := []Event{{
		Type: "RUN_STARTED", ThreadID: t.run.thread, RunID: t.run.id, ProtocolVersion: ProtocolVersion,
		Metadata: detail(Detail{Cause: d.Cause, MessageIDs: d.MessageIDs}),
	}}
	if !t.state.empty() {
		t.run.said = true
		out = append(out, t.state.snapshot())
	}
	return out
}

// inRun translates what occurs while a turn is running.
func (t *Translator) inRun(e event.Event) []Event {
	r := t.run
	switch d := e.Data.(type) {
	case event.Delta:
		return r.addText(blockKey{e.SubagentID, d.BlockID, false}, d.Text)
	case event.Thinking:
		k := blockKey{e.SubagentID, d.BlockID, true}
		out := r.addText(k, d.Text)
		if d.Done {
			out = append(out, r.endMessage(k, "")...)
		}
		return out
	case event.BlockEnd:
		return r.endBlock(e, d)
	case event.ToolStart:
		return r.startTool(toolKey{e.SubagentID, d.ToolUseID}, d.Tool, d.Input)
	case event.ToolInput:
		out := r.addInput(toolKey{e.SubagentID, d.ToolUseID}, d)
		if d.Dropped && out != nil {
			out = append(out, r.custom(e))
		}
		return out
	case event.ToolOutput:
		if tool := r.tools[toolKey{e.SubagentID, d.ToolUseID}]; tool != nil {
			tool.output.WriteString(d.Text)
		}
		return []Event{r.custom(e)}
	case event.ToolResult:
		return r.endTool(toolKey{e.SubagentID, d.ToolUseID}, d)
	case event.Task:
		return append(r.task(e, d), r.custom(e))
	case event.ComponentUpdate, event.ComponentRemove:
		return t.changeState(e)
	case event.Plan:
		if e.SubagentID == "" {
			return t.changeState(e)
		}
	case event.UserMessage:
		if d.Via == event.ViaTurn {
			return nil // the client that sent it shows it
		}
	case event.Result:
		return r.result(e, d)
	case event.Error:
		return t.fail(e, d)
	case event.Done:
		if e.SubagentID != "" {
			return nil // its task says how it goes
		}
		return t.done(d)
	case event.TurnStart:
		return nil // of a sub-agent
	}
	return []Event{r.custom(e)}
}

// custom returns an event as it is.
func (r *run) custom(e event.Event) Event {
	return Event{Type: "CUSTOM", Name: string(e.Type()), Value: dialect.Marshal(e.Data), SubagentRunID: r.runOf(e.SubagentID)}
}

func (t *Translator) changeState(e event.Event) []Event {
	ops := t.state.change(e)
	switch {
	case ops == nil:
		return nil
	case !t.run.said:
		t.run.said = true
		return []Event{t.state.snapshot()}
	}
	return []Event{{Type: "STATE_DELTA", Delta: dialect.Marshal(ops), SubagentRunID: t.run.runOf(e.SubagentID)}}
}

// result adds the final text only to a turn without text, because otherwise it repeats that.
func (r *run) result(e event.Event, d event.Result) []Event {
	var out []Event
	if e.SubagentID == "" && r.texts == 0 && d.Text != "" {
		k := blockKey{"", "result", false}
		out = append(r.addText(k, d.Text), r.endMessage(k, "")...)
	}
	return append(out, r.custom(e))
}

func (t *Translator) done(d event.Done) []Event {
	end := Event{Type: "RUN_FINISHED", ThreadID: t.run.thread, RunID: t.run.id, Outcome: &Outcome{Type: "success"}}
	if d.Stopped {
		end.Outcome.Type = "cancelled"
	}
	if d.Reason != "" || d.ExitCode != nil {
		end.Metadata = detail(Detail{Reason: d.Reason, ExitCode: d.ExitCode})
	}
	out := append(t.run.closeAll(), end)
	t.run = nil
	return out
}

func (t *Translator) fail(e event.Event, d event.Error) []Event {
	switch {
	case e.SubagentID != "":
		return append(t.run.endAgent(e.SubagentID, event.TaskFailed, d.Message), t.run.custom(e))
	case e.Turn == 0:
		return []Event{t.run.custom(e)} // of the session; session_end follows
	}
	out := append(t.run.closeAll(), Event{Type: "RUN_ERROR", Message: cmp.Or(d.Message, string(d.Code)), Code: string(d.Code)})
	t.run = nil
	return out
}

// abandon ends a run for which no done or error came.
func (t *Translator) abandon(reason string) []Event {
	if t.run == nil {
		return nil
	}
	return t.done(event.Done{Stopped: true, Reason: reason})
}

// closeAll ends what is open at the end of a turn.
func (r *run) closeAll() []Event {
	var out []Event
	for _, b := range r.order {
		out = append(out, r.endMessage(b.key, "")...)
	}
	for _, k := range r.toolOrder {
		if !r.tools[k].ended {
			out = append(out, r.endTool(k, event.ToolResult{ToolUseID: k.id, Status: event.ToolInterrupted, IsError: true})...)
		}
	}
	for _, a := range r.ordered {
		if a.running {
			out = append(out, r.endAgent(a.id, event.TaskRunning, "")...)
		}
	}
	return out
}

// toolKey names a call of a tool.
type toolKey struct{ agent, id string }

type tool struct {
	output  strings.Builder
	writing bool // the model writes its input
	ended   bool
}

func (r *run) startTool(k toolKey, name string, input event.Raw) []Event {
	agent := r.runOf(k.agent)
	switch t := r.tools[k]; {
	case t != nil && !t.writing:
		return nil
	case t != nil: // its pieces made the input
		t.writing = false
		return []Event{{Type: "TOOL_CALL_END", ToolCallID: k.id, SubagentRunID: agent}}
	}
	out := []Event{r.startInput(k, name)}
	if input != nil {
		out = append(out, Event{Type: "TOOL_CALL_ARGS", ToolCallID: k.id, Delta: text(string(input)), SubagentRunID: agent})
	}
	return append(out, Event{Type: "TOOL_CALL_END", ToolCallID: k.id, SubagentRunID: agent})
}

// startInput announces a call.
func (r *run) startInput(k toolKey, name string) Event {
	r.tools[k] = &tool{}
	r.toolOrder = append(r.toolOrder, k)
	return Event{Type: "TOOL_CALL_START", ToolCallID: k.id, ToolCallName: cmp.Or(name, "unknown"), SubagentRunID: r.runOf(k.agent)}
}

// addInput adds a piece of the input of a call that the model writes. A call that it does not
// finish ends as one that was interrupted.
func (r *run) addInput(k toolKey, d event.ToolInput) []Event {
	t := r.tools[k]
	var out []Event
	switch {
	case t == nil && d.Dropped, t != nil && !t.writing:
		return nil
	case d.Dropped:
		return r.endTool(k, event.ToolResult{ToolUseID: k.id, Status: event.ToolInterrupted, IsError: true})
	case t == nil:
		out = append(out, r.startInput(k, d.Tool))
		r.tools[k].writing = true
	}
	if d.Text != "" {
		out = append(out, Event{Type: "TOOL_CALL_ARGS", ToolCallID: k.id, Delta: text(d.Text), SubagentRunID: r.runOf(k.agent)})
	}
	return out
}

func (r *run) endTool(k toolKey, d event.ToolResult) []Event {
	out := r.startTool(k, "", nil)
	t := r.tools[k]
	if t.ended {
		return nil
	}
	t.ended = true
	content := cmp.Or(d.Output, t.output.String())
	return append(out, Event{
		Type: "TOOL_CALL_RESULT", MessageID: "result/" + k.id, ToolCallID: k.id, Role: "tool", Content: &content, SubagentRunID: r.runOf(k.agent),
		Metadata: detail(Detail{
			Status: string(d.Status), ExitCode: d.ExitCode, IsError: d.IsError,
			Changes: d.Changes, FilePath: d.FilePath, IsFileRead: d.IsFileRead, Truncated: d.Truncated, Media: d.Media,
		}),
	})
}
