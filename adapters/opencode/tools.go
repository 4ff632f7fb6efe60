package opencode

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
)

// toolName returns the name of a call's tool.
func (t *translator) toolName(name string, in *input) string {
	var servers []adapters.MCPServer
	if t.live != nil {
		servers = t.live.o.MCP
	}
	return opencodecli.ToolName(name, in, servers)
}

// runningTool is a tool call without a result.
type runningTool struct {
	id, tool string
	input    event.Raw
	in       input
	output   string // so far
	spawns   bool
	name     string // of the sub-agent
	agent    string // the sub-agent that it has started
}

// toolUpdated handles a tool call that has begun, changed or ended.
func (t *translator) toolUpdated(a *agent, p part, b []byte) {
	sc := t.scope(a)
	p.Call = cmp.Or(p.Call, p.ID)
	if sc == nil || p.Call == "" {
		return
	}
	switch p.State.Status {
	case "pending": // the model still writes its input
	case "running":
		t.showOutput(sc, t.startTool(a, sc, p), p)
	case "completed", "error":
		if a.tools[string(p.Call)] == nil && lenient.IsTrue(p.State.Metadata.Interrupted) {
			return // the model was stopped while it wrote the input: no call was made
		}
		if tool := t.startTool(a, sc, p); tool != nil {
			t.endTool(a, sc, tool, p)
		}
	default:
		t.l.Unknown("the state "+string(p.State.Status)+" of a tool", b)
	}
}

// startTool returns a tool call, which it announces if it is new; nil if it has a result.
func (t *translator) startTool(a *agent, sc *ledger.Scope, p part) *runningTool {
	id := string(p.Call)
	tool := a.tools[id]
	if tool == nil {
		tool = &runningTool{id: id, in: lenient.Decode[input](p.State.Input)}
		tool.tool = t.toolName(string(p.Tool), &tool.in)
		d := opencodecli.StartOf(p, tool.tool, &tool.in)
		tool.input, tool.spawns, tool.name = d.Input, d.SubagentSpawn, d.SubagentName
		if !sc.ToolStart(d) {
			return nil
		}
		a.tools[id] = tool
		a.calls = append(a.calls, id)
	}
	if child := t.agents[string(p.State.Metadata.Session)]; tool.spawns && child != nil && child.sub {
		t.linkSubagent(child, tool)
	}
	return tool
}

// The runtime cuts the output of a command that it reports while it runs, from 30,000 letters on:
// it then begins with cutOutput.
const (
	cutOutput    = "...\n\n"
	minCutOutput = 20_000
)

// showOutput emits the output of a running command. Each line repeats it from its start, or
// from where a long one was cut; what was emitted is not emitted again. Of a line that is cut
// the place in the output is not known, so that it is not emitted: the result has the rest.
func (t *translator) showOutput(sc *ledger.Scope, tool *runningTool, p part) {
	if tool == nil || tool.tool != "Bash" {
		return
	}
	text := string(p.State.Metadata.Output)
	if strings.HasPrefix(text, cutOutput) && len(text) > minCutOutput {
		return
	}
	if rest, ok := strings.CutPrefix(text, tool.output); ok {
		sc.Emit(event.ToolOutput{ToolUseID: tool.id, Text: rest})
		tool.output = text
	}
}

// taskCancelled is the error of a call of a sub-agent that was stopped with its turn. It comes
// before the report that the turn was stopped.
const taskCancelled = "Task cancelled"

func (t *translator) endTool(a *agent, sc *ledger.Scope, tool *runningTool, p part) {
	delete(a.tools, tool.id)
	a.calls = slices.DeleteFunc(a.calls, func(id string) bool { return id == tool.id })
	st := &p.State
	d := opencodecli.ResultOf(p, tool.tool, &tool.in)
	failed := st.Status == "error"
	switch {
	case lenient.IsTrue(st.Metadata.Interrupted):
		d.Status = event.ToolInterrupted
	case failed && t.callResolved(a, tool):
		d.Status = event.ToolDenied
	case failed && (a.aborted || p.Tool == "task" && st.Error == taskCancelled):
		d.Status = event.ToolInterrupted
	case failed:
	case a.aborted && p.Tool == "task": // 1.15 reports that it has completed
		d.Status, d.IsError = event.ToolInterrupted, true
	case tool.tool == "Bash" && d.ExitCode == nil && (a.aborted || t.live != nil && t.live.stopping):
		d.Status, d.IsError = event.ToolInterrupted, true
	}
	if !d.IsError {
		t.callResolved(a, tool)
	}
	if child := t.agents[tool.agent]; tool.agent != "" && child != nil {
		t.subagentEnded(child)
	}
	d.Media = opencodecli.MediaOf(t.l, p)
	sc.ToolResult(d)
}

// planUpdated handles the list of steps.
func (t *translator) planUpdated(a *agent, todos jsontext.Value) {
	sc := t.scope(a)
	if sc == nil {
		return
	}
	sc.Emit(opencodecli.PlanOf(todos))
}
