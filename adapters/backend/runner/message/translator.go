package message

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters/event"
)

// Translator makes messages from the events of a session, in order. The zero value is ready
// for use. It is not safe for concurrent use.
type Translator struct {
	text     texts
	thoughts thoughts
	tools    []call          // that run, oldest first
	agents   map[string]bool // the sub-agents that run
	requests []request       // that have no answer, oldest first
	turn     turn
	session  string // the runtime's id
	gone     bool   // Abandon was called
}

// request is a request without an answer.
type request struct {
	id         string
	permission bool
}

// call is a call of a tool that has not ended.
type call struct {
	id, tool, agent string
	begun           time.Time
}

// turn is the running turn.
type turn struct {
	begun  time.Time
	result event.Result
	usage  *event.Usage
	stats  Stats
}

// Translate returns the messages that an event becomes.
func (t *Translator) Translate(e event.Event) []Message {
	if t.gone && (!endsSomething(e) || t.turn.begun.IsZero() && e.Turn != 0 && endsTurn(e)) {
		return nil // the end of a turn that began later too
	}
	switch d := e.Data.(type) {
	case event.Delta:
		if e.SubagentID != "" {
			return nil
		}
		return append(t.thoughts.end(), t.text.add(d.BlockID, d.Text)...)
	case event.Thinking:
		if e.SubagentID != "" {
			return nil
		}
		var out []Message
		if d.Text != "" {
			out = t.text.flush()
		}
		return append(out, t.thoughts.add(d)...)
	case event.BlockEnd:
		if e.SubagentID != "" {
			return nil
		}
		return t.endBlock(d)
	case event.Notice: // of a retry, say: the text before it came before it
		return append(t.text.flush(), t.aside(e)...)
	case event.Usage, event.Queue, event.ToolInput, event.ToolOutput, event.ToolProgress:
		return t.aside(e) // they come at any time, and do not end a paragraph
	}
	return append(t.Flush(), t.act(e)...)
}

// endsTurn reports whether an event ends its turn.
func endsTurn(e event.Event) bool {
	switch e.Data.(type) {
	case event.Done, event.Error:
		return true
	}
	return false
}

// endsSomething reports whether an event ends a turn, a sub-agent or the session.
func endsSomething(e event.Event) bool {
	switch d := e.Data.(type) {
	case event.Done, event.Error, event.SessionEnd:
		return true
	case event.Task:
		return d.Status != event.TaskRunning
	}
	return false
}

// Waits reports whether text waits for the end of its paragraph.
func (t *Translator) Waits() bool { return t.text.wait != "" }

// FlushText returns the text that waits, and does not end its block.
func (t *Translator) FlushText() []Message { return t.text.flush() }

// Flush returns the text that waits for the end of its paragraph.
func (t *Translator) Flush() []Message { return append(t.text.flush(), t.thoughts.end()...) }

func (t *Translator) endBlock(d event.BlockEnd) []Message {
	if d.BlockID != "" && t.thoughts.has(d.BlockID) {
		out := t.thoughts.end()
		if d.Status == event.BlockRetracted {
			out = append(out, TextRetracted{d.BlockID})
		}
		return out
	}
	return t.text.end(d)
}

// aside translates what may come within a paragraph.
func (t *Translator) aside(e event.Event) []Message {
	switch d := e.Data.(type) {
	case event.Usage:
		if e.SubagentID == "" {
			t.turn.usage = &d
		}
		out := []Message{ContextUsage{d.Tokens}}
		if d.Context != nil {
			out = append(out, ContextWindowSize{*d.Context})
		}
		return out
	case event.Queue:
		return []Message{Queue{slices.Clone(d.MessageIDs)}}
	case event.Notice:
		return []Message{AgentNotification{Level: d.Level, Code: d.Code, Message: d.Text}}
	case event.ToolOutput:
		return []Message{ToolOutput{ID: d.ToolUseID, Content: d.Text, AgentID: e.SubagentID}}
	case event.ToolProgress:
		for _, c := range t.tools {
			if c.id == d.ToolUseID && c.agent == e.SubagentID && d.ElapsedMS > 0 {
				return []Message{ToolProgress{ID: c.id, Tool: c.tool, ElapsedMS: d.ElapsedMS, AgentID: c.agent}}
			}
		}
	}
	return nil
}

// act translates what ends a paragraph.
func (t *Translator) act(e event.Event) []Message {
	switch d := e.Data.(type) {
	case event.SessionReady:
		return t.ready(d)
	case event.SessionEnd:
		return []Message{SessionEnded{Reason: d.Reason, ExitCode: d.ExitCode}}
	case event.TurnStart:
		t.turn = turn{begun: e.TS}
		t.text, t.thoughts = texts{}, thoughts{}
		return []Message{TurnStart{Turn: e.Turn, Cause: d.Cause, IDs: slices.Clone(d.MessageIDs)}}
	case event.ToolStart:
		return t.startTool(e, d)
	case event.ToolResult:
		return t.endTool(e, d)
	case event.Task:
		return t.task(d)
	case event.PermissionRequest:
		t.requests = append(t.requests, request{d.RequestID, true})
		return []Message{PermissionRequest{RequestID: d.RequestID, Tool: d.ToolName, ToolID: d.ToolUseID, Params: d.ToolInput, Reason: d.Reason}}
	case event.PermissionResolved:
		t.answered(d.RequestID)
		return []Message{PermissionResolved{RequestID: d.RequestID, Decision: d.Decision, By: d.By}}
	case event.Interrupt:
		t.requests = append(t.requests, request{d.InterruptID, false})
		if IsPlan(d) {
			return []Message{PlanApprovalRequest{RequestID: d.InterruptID, Props: d.Props}}
		}
		return []Message{UserQuestionRequest{RequestID: d.InterruptID, Component: d.ComponentName, Props: d.Props}}
	case event.InterruptResolved:
		t.answered(d.InterruptID)
		return []Message{RequestResolved{RequestID: d.InterruptID, Value: d.Value, By: d.By}}
	case event.Plan:
		todos := []Todo{}
		for _, s := range d.Steps {
			todos = append(todos, Todo{Content: s.Text, Status: s.Status})
		}
		return []Message{TodoUpdate{todos}}
	case event.Compaction:
		return []Message{CompactBoundary{d.Phase}}
	case event.ModelChanged:
		return []Message{ModelChanged{d.Value}}
	case event.ModeChanged:
		return []Message{PermissionModeChanged{modeName(d.Value)}}
	case event.Checkpoint:
		if d.Action == event.CheckpointRestored {
			return []Message{FilesRewound{CheckpointID: d.CheckpointID}}
		}
		return []Message{CheckpointCreated{d.CheckpointID}}
	case event.Result:
		t.turn.result = d
		if e.SubagentID == "" && len(t.text.sent) == 0 && d.Text != "" { // of a turn in which the model said nothing
			return append(t.text.add("", d.Text), t.text.flush()...)
		}
	case event.Done:
		return t.done(e, d)
	case event.Error:
		return t.failed(e, d)
	}
	return nil
}

// IsPlan reports whether a question asks the user to approve a plan.
func IsPlan(d event.Interrupt) bool { return d.ComponentName == "ExitPlanMode" }

func (t *Translator) ready(d event.SessionReady) []Message {
	out := []Message{
		Init{Model: d.Model, PermissionMode: modeName(d.Mode), Version: d.RuntimeVersion},
		SessionStarted{SessionID: d.ProviderSessionID, Resumed: d.Resumed, ForkedFrom: d.ForkedFrom},
	}
	if d.ProviderSessionID != "" && d.ProviderSessionID != t.session {
		t.session = d.ProviderSessionID
		out = append(out, SessionIDUpdate{t.session})
	}
	return out
}

func (t *Translator) startTool(e event.Event, d event.ToolStart) []Message {
	t.tools = append(t.tools, call{d.ToolUseID, d.Tool, e.SubagentID, e.TS})
	t.turn.stats.start(d)
	return []Message{
		HookPreTool{ID: d.ToolUseID, Tool: d.Tool, AgentID: e.SubagentID},
		ToolStart{ID: d.ToolUseID, Tool: d.Tool, Params: d.Input, AgentID: e.SubagentID},
	}
}

func (t *Translator) endTool(e event.Event, d event.ToolResult) []Message {
	i := slices.IndexFunc(t.tools, func(c call) bool { return c.id == d.ToolUseID && c.agent == e.SubagentID })
	if i < 0 {
		return nil
	}
	c := t.tools[i]
	t.tools = slices.Delete(t.tools, i, i+1)
	took := e.TS.Sub(c.begun).Milliseconds()
	t.turn.stats.TotalToolDurationMS += took
	ok := d.Status == event.ToolOK || d.Status == event.ToolBackgrounded
	return []Message{
		ToolEnd{ID: c.id, Tool: c.tool, Success: ok, Status: d.Status, Summary: summary(d.Output), DurationMS: took, Background: d.Status == event.ToolBackgrounded, AgentID: c.agent},
		HookPostTool{ID: c.id, Tool: c.tool, Success: ok, AgentID: c.agent},
	}
}

// maxSummary is the longest summary of an output, in bytes.
const maxSummary = 400

// summary is the beginning of an output.
func summary(s string) string {
	if len(s) <= maxSummary {
		return s
	}
	n := maxSummary
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Running returns a tool_progress for each tool that runs at a time.
func (t *Translator) Running(now time.Time) []Message {
	var out []Message
	for _, c := range t.tools {
		out = append(out, ToolProgress{ID: c.id, Tool: c.tool, ElapsedMS: now.Sub(c.begun).Milliseconds(), AgentID: c.agent})
	}
	return out
}

// Abandon withdraws all requests that have no answer, ends all tools that run, and returns
// the text that waits. After it, events add nothing but the end of the turn, of sub-agents and
// of the session.
func (t *Translator) Abandon(now time.Time) []Message {
	var out []Message
	for _, r := range t.requests {
		if r.permission {
			out = append(out, PermissionResolved{RequestID: r.id, Decision: event.DecisionCancel, By: event.ByPolicy})
		} else {
			out = append(out, RequestResolved{RequestID: r.id, By: event.ByPolicy})
		}
	}
	for _, c := range t.tools {
		out = append(out, ToolEnd{ID: c.id, Tool: c.tool, Status: event.ToolInterrupted, DurationMS: now.Sub(c.begun).Milliseconds(), AgentID: c.agent})
	}
	out = append(out, t.Flush()...)
	t.requests, t.tools, t.gone = nil, nil, true
	return out
}

func (t *Translator) answered(id string) {
	t.requests = slices.DeleteFunc(t.requests, func(r request) bool { return r.id == id })
}

func (t *Translator) task(d event.Task) []Message {
	if d.Kind != event.TaskSubagent {
		return nil
	}
	if d.Status == event.TaskRunning {
		if t.agents[d.TaskID] {
			return nil
		}
		if t.agents == nil {
			t.agents = map[string]bool{}
		}
		t.agents[d.TaskID] = true
		return []Message{SubagentStarted{AgentID: d.TaskID, AgentType: d.Name, ParentToolUseID: d.ToolUseID}}
	}
	if !t.agents[d.TaskID] {
		return nil
	}
	delete(t.agents, d.TaskID)
	return []Message{SubagentStopped{AgentID: d.TaskID, Status: d.Status}}
}

func (t *Translator) done(e event.Event, d event.Done) []Message {
	var out []Message
	if d.Stopped {
		out = append(out, Interrupted{})
	}
	r := t.resultOf(e)
	r.Success, r.Reason = !d.Stopped, d.Reason
	return append(out, AgentStop{d.Stopped}, r, TurnComplete{e.Turn})
}

func (t *Translator) failed(e event.Event, d event.Error) []Message {
	var out []Message
	if d.Code == event.ErrorAuth {
		out = append(out, AuthError{d.Message})
	} else {
		out = append(out, Error{Code: d.Code, Message: d.Message})
	}
	if e.Turn == 0 {
		return out
	}
	r := t.resultOf(e)
	r.Error = d.Message
	return append(out, AgentStop{}, r, TurnComplete{e.Turn})
}

// resultOf sums up the turn that an event ends.
func (t *Translator) resultOf(e event.Event) Result {
	r := Result{Text: t.turn.result.Text, DurationMS: e.TS.Sub(t.turn.begun).Milliseconds(), Stats: t.turn.stats}
	if u := t.turn.usage; u != nil {
		r.Usage, r.Cost = &u.Tokens, u.Cost
	}
	t.turn = turn{}
	return r
}
