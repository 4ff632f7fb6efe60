// Package runindex derives from a run what the checks of all topics need.
//
// An Index lists the turns, tool calls, questions, messages and text blocks that
// the events of a run hold, and the lines of its wire as the harness reads them.
// It is computed once, at the first use. The functions on a run derive the other
// side of a comparison: what the model said and received, by the witness, and what
// the scenario's client does.
package runindex

import (
	"iter"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Index lists what the events of a run hold. Its lists are in the order of the
// first event of each entry, and must not be changed.
type Index struct {
	run *conformance.Run

	turns     []*Turn
	tools     []*Tool
	questions []*Question
	messages  []*Message
	blocks    []*TextBlock
	lines     []Line
	requests  []fixtures.Request
	subagents []string
	parsed    map[location]wire.Line // of a plain run: its lines, each as it is by itself

	turnsByN     map[int]*Turn
	commandTurns map[int]bool
}

// Of returns the index of a run that has ended.
func Of(r *conformance.Run) *Index { return conformance.Derive(r, newIndex) }

func newIndex(r *conformance.Run) *Index {
	x := &Index{run: r, turnsByN: map[int]*Turn{}}
	x.indexEvents()
	x.requests, x.subagents = requests(r), subagents(r)
	x.commandTurns = commandTurns(x)
	x.blocks = textBlocks(x)
	return x
}

// Turn holds the events of a turn.
type Turn struct {
	N      int
	Events []conformance.Event // of the main agent
	Ends   []conformance.Event // its terminal events
}

// End returns the first terminal event of the turn.
func (t *Turn) End() (e conformance.Event, ended bool) {
	if t == nil || len(t.Ends) == 0 {
		return e, false
	}
	return t.Ends[0], true
}

// Turns returns the turns that the events name.
func (x *Index) Turns() []*Turn { return x.turns }

// Turn returns the turn of that number, or nil.
func (x *Index) Turn(n int) *Turn { return x.turnsByN[n] }

// TurnAt returns the turn that ran when a step of the scenario began, or nil. The
// step is the index in Run.Steps.
func (x *Index) TurnAt(step int) *Turn {
	running := 0
	for _, e := range x.run.Events {
		switch {
		case e.Steps > step || e.SubagentID != "":
		case e.Terminal() && e.Turn == running:
			running = 0
		case e.Type() == event.TypeTurnStart:
			running = e.Turn
		}
	}
	return x.turnsByN[running]
}

// Tool holds the events of a tool call.
type Tool struct {
	ID, Agent                string // Agent is the subagent_id; "" is the main agent
	Starts, Outputs, Results []conformance.Event
	Events                   []conformance.Event // all of them, in order
}

// Start returns the data of the call's first tool_start.
func (t *Tool) Start() event.ToolStart {
	if len(t.Starts) == 0 {
		return event.ToolStart{}
	}
	d, _ := t.Starts[0].Data.(event.ToolStart)
	return d
}

// Result returns the call's first tool_result.
func (t *Tool) Result() (d event.ToolResult, ended bool) {
	if len(t.Results) == 0 {
		return d, false
	}
	d, ended = t.Results[0].Data.(event.ToolResult)
	return d, ended
}

// Tools returns the tool calls of all agents.
func (x *Index) Tools() []*Tool { return x.tools }

// Tool returns the tool call of an agent with that id, or nil.
func (x *Index) Tool(agent, id string) *Tool {
	for _, t := range x.tools {
		if t.Agent == agent && t.ID == id {
			return t
		}
	}
	return nil
}

// ToolsOf returns the tool calls, of any agent, that are the scenario's call of
// that id.
func (x *Index) ToolsOf(call string) []*Tool {
	var out []*Tool
	for _, t := range x.tools {
		if SameCall(x.run, t.ID, call) {
			out = append(out, t)
		}
	}
	return out
}

// Starts returns the tool_start events of the main agent for a call of the model.
func (x *Index) Starts(call Call) []conformance.Event {
	var out []conformance.Event
	for _, t := range x.ToolsOf(call.ID) {
		if t.Agent == "" {
			out = append(out, t.Starts...)
		}
	}
	return out
}

// Question is a question of the subject to the user: a permission_request, or an
// interrupt.
type Question struct {
	ID        string
	Interrupt bool
	Asked     []conformance.Event
	Resolved  []conformance.Event
}

// Questions returns the questions, open or resolved.
func (x *Index) Questions() []*Question { return x.questions }

// Message is a user_message.
type Message struct {
	conformance.Event
	Data event.UserMessage
}

// Messages returns the user messages of the main agent.
func (x *Index) Messages() []*Message { return x.messages }

// Subagents returns the names that the witness gives to sub-agents.
func Subagents(r *conformance.Run) []string { return Of(r).subagents }

type agentID struct{ agent, id string }

func (x *Index) indexEvents() {
	tools, questions := map[agentID]*Tool{}, map[agentID]*Question{}
	tool := func(e conformance.Event, id string) *Tool {
		k := agentID{e.SubagentID, id}
		if tools[k] == nil {
			tools[k] = &Tool{ID: id, Agent: e.SubagentID}
			x.tools = append(x.tools, tools[k])
		}
		return tools[k]
	}
	question := func(id string, interrupt bool) *Question {
		k := agentID{"permission", id}
		if interrupt {
			k.agent = "interrupt"
		}
		if questions[k] == nil {
			questions[k] = &Question{ID: id, Interrupt: interrupt}
			x.questions = append(x.questions, questions[k])
		}
		return questions[k]
	}
	for _, e := range x.run.Events {
		x.indexTurn(e)
		switch d := e.Data.(type) {
		case event.ToolStart:
			t := tool(e, d.ToolUseID)
			t.Starts, t.Events = append(t.Starts, e), append(t.Events, e)
		case event.ToolOutput:
			t := tool(e, d.ToolUseID)
			t.Outputs, t.Events = append(t.Outputs, e), append(t.Events, e)
		case event.ToolResult:
			t := tool(e, d.ToolUseID)
			t.Results, t.Events = append(t.Results, e), append(t.Events, e)
		case event.PermissionRequest:
			q := question(d.RequestID, false)
			q.Asked = append(q.Asked, e)
		case event.PermissionResolved:
			q := question(d.RequestID, false)
			q.Resolved = append(q.Resolved, e)
		case event.Interrupt:
			q := question(d.InterruptID, true)
			q.Asked = append(q.Asked, e)
		case event.InterruptResolved:
			q := question(d.InterruptID, true)
			q.Resolved = append(q.Resolved, e)
		case event.UserMessage:
			if e.SubagentID == "" {
				x.messages = append(x.messages, &Message{e, d})
			}
		}
	}
}

func (x *Index) indexTurn(e conformance.Event) {
	if e.Turn == 0 {
		return
	}
	t := x.turnsByN[e.Turn]
	if t == nil {
		t = &Turn{N: e.Turn}
		x.turns, x.turnsByN[e.Turn] = append(x.turns, t), t
	}
	if e.SubagentID != "" {
		return
	}
	t.Events = append(t.Events, e)
	if e.Terminal() {
		t.Ends = append(t.Ends, e)
	}
}

// EventsOf returns the events of all agents whose data is a T, with the data.
func EventsOf[T event.Data](r *conformance.Run) iter.Seq2[conformance.Event, T] {
	return func(yield func(conformance.Event, T) bool) {
		for _, e := range r.Events {
			if d, ok := e.Data.(T); ok && !yield(e, d) {
				return
			}
		}
	}
}

// DeniedCalls returns the ids of the tool calls that the user or the policy denied, as
// the subject reports it.
func DeniedCalls(r *conformance.Run) map[string]bool {
	denied, about := map[string]bool{}, map[string]string{}
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.PermissionRequest:
			about[d.RequestID] = d.ToolUseID
		case event.PermissionResolved:
			if call := about[d.RequestID]; call != "" && d.Decision == event.DecisionDeny && (d.By == event.ByUser || d.By == event.ByPolicy) {
				denied[call] = true
			}
		}
	}
	return denied
}
