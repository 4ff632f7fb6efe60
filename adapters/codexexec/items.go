package codexexec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/codexcli"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// handleItem handles a line about an item. It returns false if its type is not known.
func (t *translator) handleItem(it *item, line string) bool {
	sc, completed := t.l.Turn(), line == "item.completed"
	if it.Type == "error" { // a warning, also before the turn
		if completed {
			t.l.Notice(event.LevelWarning, event.NoticeWarning, string(it.Message), nil)
		}
		return true
	}
	start, isTool := toolStart(it)
	switch it.Type {
	case "agent_message", "reasoning", "todo_list":
	default:
		if !isTool {
			return false
		}
	}
	if sc == nil && t.live == nil && !t.l.Ready() { // the transcript begins within the turn
		t.turnStarted()
		sc = t.l.Turn()
	}
	if sc == nil {
		return true // the turn has ended
	}
	t.survived()
	t.retrying, t.kept = false, true
	// Each process counts its items from 0.
	id := strconv.Itoa(sc.Turn()) + "." + string(it.ID)
	switch it.Type {
	case "agent_message":
		if completed && it.Text != "" {
			t.lastText = string(it.Text)
			sc.Delta(id, string(it.ID), t.lastText)
			sc.BlockEnd(id, event.BlockComplete, "")
		}
	case "reasoning":
		if completed && it.Text != "" {
			sc.Thinking(id, string(it.Text))
			sc.ThinkingDone()
		}
	case "todo_list":
		t.emitPlan(sc, it)
	default:
		if it.Type == "web_search" && !completed && start.Query == "" && start.URL == "" {
			sc.ToolUnnamed(id) // the runtime does not state yet whether it searches or opens a page
			return true
		}
		start.ToolUseID = id
		sc.ToolStart(start) // emits nothing if it was announced
		if completed {
			d := resultOf(t.l, it)
			d.ToolUseID = id
			sc.ToolResult(d)
		}
	}
	return true
}

// emitPlan emits the list of steps if it changed: its last line repeats it.
func (t *translator) emitPlan(sc *ledger.Scope, it *item) {
	var steps []event.PlanStep
	for _, v := range it.Items {
		s := lenient.Decode[planStep](v)
		status := event.StepPending
		if lenient.IsTrue(s.Completed) {
			status = event.StepCompleted
		}
		steps = append(steps, event.PlanStep{Text: string(s.Text), Status: status})
	}
	if slices.Equal(steps, t.steps) {
		return
	}
	t.steps = steps
	sc.Emit(event.Plan{Steps: steps})
}

type commandInput struct {
	Command string `json:"command"`
}

type changesInput struct {
	Changes lenient.List[jsontext.Value] `json:"changes"`
}

type agentInput struct {
	Prompt    string                       `json:"prompt,omitempty"`
	Receivers lenient.List[jsontext.Value] `json:"receiver_thread_ids,omitempty"`
}

// toolStart returns the event that announces the tool of an item.
func toolStart(it *item) (d event.ToolStart, isTool bool) {
	switch it.Type {
	case "command_execution":
		d.Tool, d.Command = "Bash", codexcli.Unwrap(string(it.Command))
		d.Input = lenient.Encode(commandInput{string(it.Command)})
	case "file_change":
		changes := changesOf(it.Changes)
		d.Tool = "Write"
		if len(changes) == 0 || slices.ContainsFunc(changes, func(c event.FileChange) bool { return c.Kind != event.ChangeAdd }) {
			d.Tool = "Edit"
		}
		if len(changes) == 1 {
			d.FilePath = changes[0].Path
		}
		d.Input = lenient.Encode(changesInput{it.Changes})
	case "mcp_tool_call":
		d.Tool, d.Input = "mcp__"+string(it.Server)+"__"+string(it.Tool), it.Arguments
	case "web_search":
		a := lenient.Decode[webAction](it.Action)
		codexcli.WebStart(&d, string(it.Query), codexcli.WebAction{Query: string(a.Query), URL: string(a.URL), Pattern: string(a.Pattern)})
	case "collab_tool_call":
		d.Tool, d.Input = cmp.Or(string(it.Tool), string(it.Type)), lenient.Encode(agentInput{string(it.Prompt), it.Receivers})
		if it.Tool == "spawn_agent" {
			d.Tool, d.SubagentSpawn = "Task", true
			d.SubagentName, _, _ = strings.Cut(string(it.Prompt), "\n")
		}
	default:
		return d, false
	}
	return d, true
}

// resultOf returns the result of a completed item.
func resultOf(l *ledger.Ledger, it *item) event.ToolResult {
	d := event.ToolResult{Status: event.ToolOK}
	switch it.Status {
	case "failed":
		d.Status = event.ToolError
	case "declined":
		d.Status = event.ToolDenied
	}
	switch it.Type {
	case "command_execution":
		d.Output = string(it.Output)
		d.ExitCode = lenient.Int(it.ExitCode)
		if d.ExitCode != nil && *d.ExitCode != 0 && d.Status == event.ToolOK {
			d.Status = event.ToolError
		}
	case "file_change":
		d.Changes = changesOf(it.Changes)
		if len(d.Changes) == 1 {
			d.FilePath = d.Changes[0].Path
		}
	case "mcp_tool_call":
		r := lenient.Decode[toolResult](it.Result)
		d.Output, d.Media = contentText(r.Content), l.MediaIn(lenient.Decode[mcpContent](it.Result).Content)
		if msg := lenient.Decode[withMessage](it.Error).Message; msg != "" {
			d.Output = string(msg)
		}
	case "collab_tool_call":
		// Only wait returns the text of a sub-agent.
		if agents := lenient.Decode[map[string]jsontext.Value](it.Agents); it.Tool == "wait" && len(agents) == 1 {
			for _, v := range agents {
				d.Output = string(lenient.Decode[agentState](v).Message)
			}
		}
	}
	d.IsError = d.Status != event.ToolOK
	return d
}

func changesOf(l []jsontext.Value) []event.FileChange {
	var out []event.FileChange
	for _, v := range l {
		c := lenient.Decode[fileChange](v)
		kind := event.ChangeKind(c.Kind)
		if kind != event.ChangeAdd && kind != event.ChangeDelete {
			kind = event.ChangeUpdate // for any kind of a newer version the file has changed
		}
		out = append(out, event.FileChange{Path: string(c.Path), Kind: kind})
	}
	return out
}

// contentText joins the texts of a tool's result, as the runtime does for the model. Pictures are
// left out.
func contentText(l []jsontext.Value) string {
	var texts []string
	for _, v := range l {
		if c := lenient.Decode[contentItem](v); c.Type == "text" {
			texts = append(texts, string(c.Text))
		}
	}
	return strings.Join(texts, "\n")
}
