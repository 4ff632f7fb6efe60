package acp

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/proc"
)

// permissionEnv is the variable with permissions that opencode adds to those of its settings.
// It is the only way to choose what opencode asks about: its modes are its agents. No other
// agent reads it.
const permissionEnv = "OPENCODE_PERMISSION"

// openCodePermissions are the permissions of opencode, by modes. Of those that fit a call the
// last counts, and one that the settings have keeps its place there. So "*" would hide what the
// settings have before it, and it alone would leave what they have behind it.
var openCodePermissions = map[string]map[string]string{
	adapters.ModeAsk:         {"bash": "ask", "edit": "ask", "external_directory": "ask"},
	adapters.ModeAcceptEdits: {"bash": "ask", "edit": "allow", "external_directory": "ask"},
	adapters.ModeNever:       permissionOf("allow"),
}

// permissionOf returns an action for each permission.
func permissionOf(action string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		"*", "bash", "codesearch", "doom_loop", "edit", "external_directory", "glob", "grep", "list", "lsp", "read", "skill", "task",
		"todoread", "todowrite", "webfetch", "websearch",
	} {
		out[name] = action
	}
	return out
}

// permissions returns the environment of the agent with the permissions of opencode for the
// mode, or those by which a Judge is asked about each call.
func permissions(o adapters.Options) []string {
	p := openCodePermissions[o.Mode]
	if o.Judge != nil {
		p = permissionOf("ask")
	}
	if p == nil || proc.Getenv(o.Env, permissionEnv) != "" {
		return o.Env
	}
	env := proc.Environ(o.Env)
	return append(slices.Clip(env), permissionEnv+"="+string(lenient.Encode(p)))
}

// checkPermissions returns an error if opencode was not started with the permissions of the
// mode, or for the Judge.
func (c *client) checkPermissions() error {
	if c.t.agent.modeAtStart && proc.Getenv(c.o.Env, permissionEnv) != "" && (c.o.Judge != nil || openCodePermissions[c.o.Mode] != nil) {
		return fmt.Errorf("mode: a mode and a judge need %s, which the environment holds already: %w", permissionEnv, adapters.ErrUnsupported)
	}
	return nil
}

// openCodeMode returns opencode's agent for a mode. What it asks about is chosen when it
// starts.
func (c *client) openCodeMode(mode string) (string, error) {
	switch {
	case openCodePermissions[mode] == nil:
		return mode, nil
	case mode != c.t.startMode():
		return "", fmt.Errorf("mode: what opencode asks about is chosen when it starts: %w", adapters.ErrUnsupported)
	}
	return buildAgent, nil
}

// buildAgent is the agent of opencode that is no other one.
const buildAgent = "build"

// startMode is the mode whose permissions opencode was started with: that of Options.Mode, or
// its agent if that has none. A transcript does not have it.
func (t *translator) startMode() string {
	switch {
	case t.live == nil:
		return ""
	case openCodePermissions[t.live.o.Mode] == nil:
		return buildAgent
	}
	return t.live.o.Mode
}

// openCodeTools are the names of events for the tools of opencode. Others keep theirs.
var openCodeTools = map[string]string{
	"bash": "Bash", "read": "Read", "edit": "Edit", "write": "Write", "grep": "Grep", "glob": "Glob", "list": "LS",
	"task": "Task", "todowrite": "TodoWrite", "webfetch": "WebFetch", "websearch": "WebSearch",
}

// notInNames are the signs that opencode replaces in the names of servers.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// openCodeTool returns the name of a tool, which opencode has as the title of a call that
// begins. It joins the names of an MCP server and of its tool with a sign that either may have.
func (t *translator) openCodeTool(u *update) string {
	title := string(u.Title)
	if t.live != nil {
		for _, m := range t.live.o.MCP {
			if tool, ok := strings.CutPrefix(title, notInNames.ReplaceAllString(m.Name, "_")+"_"); ok {
				return "mcp__" + m.Name + "__" + tool
			}
		}
	}
	return cmp.Or(openCodeTools[title], title)
}

// abortedCommand is what opencode adds to the output of a command that was stopped.
const abortedCommand = "<shell_metadata>\nUser aborted the command"

// opencode cuts the output of a command that it reports while it runs, from 30,000 letters on:
// it then begins with cutOutput. What of it is new is not known, and the result has it.
const (
	cutOutput    = "...\n\n"
	minCutOutput = 20_000
)

// neverMade reports whether an update ends a call that was announced and whose input the model
// was still writing when it was stopped: it made no such call.
func (t *translator) neverMade(u *update) bool {
	c := t.call(string(u.ToolCallID))
	return u.Status == "failed" && c != nil && !c.started && lenient.IsTrue(lenient.Decode[openCodeOutput](u.RawOutput).Metadata.Interrupted)
}

// openCodePlan emits the list of steps that a call sets.
func (t *translator) openCodePlan(sc *ledger.Scope, c *toolCall) {
	d := event.Plan{Steps: []event.PlanStep{}}
	for _, s := range lenient.Decode[struct {
		Todos []struct {
			Content lenient.Str `json:"content"`
			Status  lenient.Str `json:"status"`
		} `json:"todos"`
	}](c.input).Todos {
		status := event.StepPending
		switch s.Status {
		case "in_progress":
			status = event.StepInProgress
		case "completed", "cancelled":
			status = event.StepCompleted
		}
		d.Steps = append(d.Steps, event.PlanStep{Text: string(s.Content), Status: status})
	}
	sc.Emit(d)
}

// openCodeOutput is the raw output of a call of opencode.
type openCodeOutput struct {
	Output   lenient.Str `json:"output"`
	Error    lenient.Str `json:"error"`
	Metadata struct {
		Exit      jsontext.Value `json:"exit"`
		Truncated jsontext.Value `json:"truncated"`
		Exists    jsontext.Value `json:"exists"` // the file that is written was there before

		Interrupted jsontext.Value `json:"interrupted"` // the model was stopped while it wrote the input
		Files       struct {
			Patch lenient.Str `json:"patch"`
		} `json:"filediff"`
	} `json:"metadata"`
}

// completeOpenCode completes the result of a call of opencode, whose status does not tell
// how a command has ended.
func (t *translator) completeOpenCode(c *toolCall, d *event.ToolResult) {
	out := lenient.Decode[openCodeOutput](c.rawOutput)
	d.Truncated = lenient.IsTrue(out.Metadata.Truncated)
	if path := c.start().FilePath; c.name == "Write" && path != "" && !d.IsError {
		in := lenient.Decode[struct {
			Content lenient.Str `json:"content"`
		}](c.input)
		d.Changes = []event.FileChange{ledger.WrittenFile(path, string(in.Content), lenient.IsTrue(out.Metadata.Exists))}
	}
	if d.IsError || c.name != "Bash" {
		return
	}
	if out.Metadata.Exit.Kind() != '0' {
		if t.stopped || t.live == nil && strings.Contains(string(out.Output), abortedCommand) {
			d.Status, d.IsError = event.ToolInterrupted, true
		}
		return
	}
	setExitCode(d, out.Metadata.Exit)
}
