package agentui

import (
	"fmt"
	"maps"

	"github.com/turnspec/turnspec/adapters/event"
)

// Translator makes Agent UI events from the events of a session, in order. The zero value is
// ready for use. It is not safe for concurrent use.
type Translator struct {
	sequence int64
	blocks   map[blockKey]*block
	texts    map[int]int       // blocks of visible text of the main agent, by turn
	outputs  map[string]string // of tools that run
	asked    map[string]action // requests without an answer
	agents   map[string]bool   // sub-agents that were spawned
	versions map[string]int    // of artifacts
}

// action is a request.
type action struct{ tool string }

// LeftOut lists the types of events that no Agent UI event is made of, each with the reason.
func LeftOut() map[event.Type]string {
	return map[event.Type]string{event.TypeToolInput: "tool.args has the whole input when the call starts"}
}

// Translate returns the Agent UI events that an event becomes.
func (t *Translator) Translate(e event.Event) []Event {
	if t.blocks == nil {
		*t = Translator{
			blocks: map[blockKey]*block{}, texts: map[int]int{}, outputs: map[string]string{}, asked: map[string]action{},
			agents: map[string]bool{}, versions: map[string]int{},
		}
	}
	out := t.translate(e)
	for i := range out {
		t.sequence++
		out[i].Sequence, out[i].Timestamp = t.sequence, e.TS
		out[i].SessionID, out[i].ThreadID = e.SessionID, e.SessionID
		if out[i].AgentID == "" {
			out[i].AgentID = e.SubagentID
		}
		if e.Turn != 0 {
			out[i].RunID = fmt.Sprintf("%s/%d", e.SessionID, e.Turn)
			out[i].TurnID = out[i].RunID
		}
	}
	return out
}

func one(e Event) []Event { return []Event{e} }

func (t *Translator) translate(e event.Event) []Event {
	switch d := e.Data.(type) {
	case event.ToolInput:
		return nil
	case event.Delta:
		return t.addText(e, blockKey{e.Turn, e.SubagentID, d.BlockID, false}, d.MessageID, d.Text)
	case event.Thinking:
		return t.think(e, d)
	case event.BlockEnd:
		return t.endBlock(e, d)
	case event.ToolStart, event.ToolOutput, event.ToolProgress, event.ToolResult:
		return t.tool(e)
	case event.PermissionRequest, event.PermissionResolved, event.Interrupt, event.InterruptResolved:
		return t.act(e)
	case event.Task:
		return t.task(d)
	case event.TurnStart, event.UserMessage, event.Result, event.Done, event.Error:
		return t.course(e)
	}
	return t.aside(e)
}

// course translates how a turn goes.
func (t *Translator) course(e event.Event) []Event {
	switch d := e.Data.(type) {
	case event.TurnStart:
		if e.SubagentID != "" {
			return nil // its task says how it goes
		}
		out := kind{"run.started", "runtime", "run", "accepted"}.with(d)
		out.RuntimeEntity, out.RuntimeStatus = "agent_turn", "accepted"
		return one(out)
	case event.UserMessage:
		if d.Via == event.ViaTurn {
			return nil // the client that sent it shows it
		}
		out := kind{"run.status", "runtime", "run", "accepted"}.with(d)
		out.MessageID, out.Control = d.MessageID, "queue"
		if d.Via == event.ViaSteer {
			out.Control = "steer"
		}
		return one(out)
	case event.Result:
		var out []Event
		if e.SubagentID == "" && t.texts[e.Turn] == 0 && d.Text != "" { // else it repeats the text
			k := blockKey{e.Turn, "", "result", false}
			out = append(t.addText(e, k, "", d.Text), t.final(k, "")...)
		}
		if d.Stats != nil {
			out = append(out, metric(d.Stats))
		}
		return out
	case event.Done:
		if e.SubagentID != "" {
			return nil
		}
		t.forget(e.Turn)
		out := kind{"run.finished", "runtime", "run", "completed"}.with(d)
		out.RuntimeEntity, out.RuntimeStatus = "agent_turn", "completed"
		if d.Stopped {
			out.Phase, out.RuntimeStatus = "interrupted", "aborted"
		}
		return one(out)
	case event.Error:
		out := kind{"run.failed", "runtime", "run", "failed"}.with(d)
		out.RuntimeEntity, out.RuntimeStatus = "agent_turn", "failed"
		switch {
		case e.SubagentID != "":
			out.Type, out.Owner, out.Scope, out.RuntimeEntity = "agent.changed", "agent", "agent", "subagent_turn"
		case e.Turn == 0:
			out = kind{"diagnostic.changed", "diagnostics", "session", "failed"}.with(d)
		default:
			t.forget(e.Turn)
		}
		return one(out)
	}
	return nil
}

// forget drops what no later event needs of a turn that has ended.
func (t *Translator) forget(turn int) {
	maps.DeleteFunc(t.blocks, func(k blockKey, _ *block) bool { return k.turn == turn && k.agent == "" })
	delete(t.texts, turn)
}

// aside translates facts beside the conversation.
func (t *Translator) aside(e event.Event) []Event {
	switch d := e.Data.(type) {
	case event.SessionReady:
		out := kind{"session.opened", "session", "session", "accepted"}.with(d)
		if d.Resumed {
			out.Type, out.Phase = "session.hydrated", "hydrating"
		}
		return one(out)
	case event.SessionEnd:
		return one(kind{"session.closed", "session", "session", "completed"}.with(d))
	case event.Queue:
		return one(kind{"queue.changed", "runtime", "session", ""}.with(d))
	case event.Plan:
		return one(planKind(d).with(d))
	case event.Usage:
		return one(metric(d))
	case event.Compaction:
		if d.Phase == event.PhaseStart {
			return one(kind{"context.compaction.started", "context", "thread", "preparing"}.with(d))
		}
		return one(kind{"context.compaction.completed", "context", "thread", "completed"}.with(d))
	case event.ComponentUpdate:
		out := kind{"state.delta", "ui_projection", "thread", ""}.with(d)
		out.Surface = d.Surface
		return one(out)
	case event.ComponentRemove:
		return one(kind{"state.delta", "ui_projection", "thread", ""}.with(struct {
			ComponentID string `json:"component_id"`
			Removed     bool   `json:"removed"`
		}{d.ComponentID, true}))
	case event.ModelChanged:
		return one(kind{"context.changed", "context", "session", ""}.with(d))
	case event.ModeChanged:
		return one(kind{"permission.changed", "policy", "session", ""}.with(d))
	case event.Checkpoint:
		out := kind{"evidence.changed", "evidence", "evidence", "completed"}.with(d)
		out.EvidenceID = "checkpoint/" + d.CheckpointID
		return one(out)
	case event.Notice:
		out := kind{"diagnostic.changed", "diagnostics", "run", ""}.with(d)
		if out.Persistence = "diagnostics_log"; e.Turn == 0 {
			out.Scope = "session"
		}
		return one(out)
	}
	return one(dataOf(e))
}

// dataOf translates an event that the draft has no class for.
func dataOf(e event.Event) Event {
	out := kind{"data." + string(e.Type()), "runtime", "run", ""}.with(e.Data)
	if e.Turn == 0 {
		out.Scope = "session"
	}
	if id, ok := event.ToolID(e.Data); ok {
		out.Owner, out.Scope, out.Phase, out.ToolCallID = "tool", "tool_call", "acting", id
	}
	if event.RowOf(e.Type()).Transient {
		out.Persistence = "ephemeral_live"
	}
	return out
}

func metric(figures any) Event { return kind{"metric.changed", "diagnostics", "run", ""}.with(figures) }

func planKind(d event.Plan) kind {
	for _, s := range d.Steps {
		if s.Status != event.StepCompleted {
			return kind{"plan.delta", "model", "turn", "planning"}
		}
	}
	return kind{"plan.final", "model", "turn", "completed"}
}

// task translates the course of a sub-agent, or of a command in the background.
func (t *Translator) task(d event.Task) []Event {
	phase := map[event.TaskStatus]string{
		event.TaskRunning: "acting", event.TaskCompleted: "completed", event.TaskFailed: "failed",
		event.TaskStopped: "cancelled", event.TaskInterrupted: "interrupted",
	}[d.Status]
	status := map[event.TaskStatus]string{
		event.TaskRunning: "running", event.TaskCompleted: "completed", event.TaskFailed: "failed",
		event.TaskStopped: "cancelled", event.TaskInterrupted: "aborted",
	}[d.Status]
	if d.Kind != event.TaskSubagent {
		out := kind{"task.changed", "task", "task", phase}.with(d)
		out.TaskID, out.ToolCallID, out.RuntimeStatus = d.TaskID, d.ToolUseID, status
		return one(out)
	}
	k := kind{"agent.completed", "agent", "agent", phase}
	switch {
	case d.Status == event.TaskRunning && !t.agents[d.TaskID]:
		k.class = "agent.spawned"
	case d.Status == event.TaskRunning, !t.agents[d.TaskID]: // or its end is stated again
		k.class = "agent.changed"
	}
	t.agents[d.TaskID] = d.Status == event.TaskRunning
	out := k.with(d)
	out.AgentID, out.TaskID, out.ToolCallID = d.TaskID, d.TaskID, d.ToolUseID
	out.RuntimeEntity, out.RuntimeStatus = "subagent_turn", status
	return one(out)
}
