package codex

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// judged is the approval policy where a Judge is set: the one that makes the
// runtime ask about most, in every version. The sandbox is that of the mode.
const judged = "untrusted"

// unasked are tools that the runtime never asks about, as calls that stand for
// all of theirs, and the settings that take them away. Older versions do not
// know the second.
var unasked = []struct {
	call    adapters.Call
	setting string
}{
	{adapters.Call{Tool: "WebSearch", Input: event.Raw(`{"query":""}`)}, `web_search="disabled"`},
	{adapters.Call{Tool: "Read", Input: event.Raw(`{"file_path":"/"}`)}, "features.view_image=false"}, // it looks at any file
}

// askAlways is the setting of an MCP server whose tools are asked about though the
// server calls them read-only. Older versions do not know it.
const askAlways = `,default_tools_approval_mode="prompt"`

// closed are the arguments that take away what the judge denies and the runtime
// never asks about.
func closed(ctx context.Context, o adapters.Options) []string {
	if o.Judge == nil {
		return nil
	}
	var args []string
	for _, u := range unasked {
		u.call.Dir = o.Dir
		if o.Judge.Decide(ctx, u.call).Effect == adapters.EffectDeny {
			args = append(args, "-c", u.setting)
		}
	}
	return args
}

// judge lets the judge answer a permission. The question is told before, since a
// runtime that ends meanwhile has asked it; but the user's answer waits for the
// judge's. What does not say what it is about is denied.
func (c *client) judge(a *ask, call adapters.Call) {
	a.judged = true
	a.unjudge = c.host.Go(func(ctx context.Context) func() {
		v := adapters.Verdict{Effect: adapters.EffectDeny}
		if call.Tool != "" {
			v = c.o.Judge.Decide(ctx, call)
		}
		return func() {
			a.judged = false
			if d, by := c.ruling(v.Effect); d != "" {
				_ = c.t.answer(a.id, adapters.Answer{Decision: d, By: by}) // once, and without an input: it is taken
			}
			for _, answer := range a.waits {
				answer()
			}
		}
	})
}

// callJudged runs a tool of the client, unless the judge denies it.
func (c *client) callJudged(ctx context.Context, tool adapters.Tool, call adapters.ToolCall, j adapters.Call) (adapters.ToolAnswer, error) {
	if c.o.Judge != nil {
		if v := c.o.Judge.Decide(ctx, j); v.Effect == adapters.EffectDeny {
			return adapters.ToolAnswer{}, errors.New(v.Reason)
		}
	}
	return tool.Call(ctx, call)
}

// ruling is what a verdict makes of a question, and who made it. What the judge
// leaves is the mode's: in one that asks nobody the runtime would not have asked,
// but for the judge. "": the user decides.
func (c *client) ruling(e adapters.Effect) (event.Decision, event.By) {
	switch {
	case e == adapters.EffectAllow:
		return event.DecisionAllow, event.ByPolicy
	case e == adapters.EffectDeny:
		return event.DecisionDeny, event.ByPolicy
	case c.wanted == adapters.ModeNever:
		return event.DecisionAllow, event.ByRuntime
	case c.wanted == adapters.ModeDontAsk:
		return event.DecisionDeny, event.ByRuntime
	}
	return "", ""
}

// commandCall is a command as a Judge sees it: without the shell that the runtime
// wraps around it.
type commandCall struct {
	Command string `json:"command"`
}

// call is the tool call that a question is about, as a Judge sees it: without a
// tool where the question does not say it.
func (t *translator) call(a *ask, d event.PermissionRequest) adapters.Call {
	p := &t.m.Params
	c := adapters.Call{Tool: d.ToolName, Input: d.ToolInput, Dir: string(p.Cwd), SubagentID: t.subID(a.th)}
	if c.Dir == "" && t.live != nil {
		c.Dir = t.live.o.Dir
	}
	if len(c.Input) == 0 || c.Input.Kind() == 'n' {
		c.Input = event.Raw("{}")
	}
	switch a.method {
	case askCommand, askOldExec:
		cmd := scalarOf(p.Command)
		if cmd == "" {
			cmd = strings.Join(read[[]string](p.Command), " ")
		}
		c.Input = encode(commandCall{bare(cmd)})
		switch {
		case p.Network.v != nil: // the command runs already, and wants out
			c.Tool, c.Input = "Network", encode(p.Network.v)
		case p.Kind != "" && p.Kind != "command": // what it is told while it runs
			c.Tool, c.Input = string(p.Kind), encode(commandCall{cmd})
		case cmd == "":
			c.Tool = ""
		}
	case askOldPatch:
		c.Input = encode(changesInput{oldChanges(p.FileChanges)})
		if len(read[map[string]jsontext.Value](p.FileChanges)) == 0 {
			c.Tool = ""
		}
	case askFileChange:
		if len(changesOf(read[changesInput](c.Input).Changes)) == 0 {
			c.Tool = ""
		}
	}
	return c
}

type oldChange struct {
	Path string  `json:"path"`
	Kind oldKind `json:"kind"`
}

type oldKind struct {
	Type string `json:"type"`
	Move string `json:"move_path,omitempty"`
}

// oldChanges are the changes of an older form, by their files, in the form of
// today.
func oldChanges(v jsontext.Value) jsontext.Value {
	out := []oldChange{}
	for file, b := range read[map[string]jsontext.Value](v) {
		ch := oldChange{Path: file}
		for kind, how := range read[map[string]jsontext.Value](b) {
			ch.Kind = oldKind{kind, string(read[changeKind](how).MovePath)}
		}
		out = append(out, ch)
	}
	slices.SortFunc(out, func(a, b oldChange) int { return strings.Compare(a.Path, b.Path) })
	return encode(out)
}

// bare is a command without the shell that the runtime has wrapped it in. A shell
// that is not the system's is the model's own, and stays.
func bare(cmd string) string {
	shell, _, _ := strings.Cut(cmd, " ")
	switch path.Dir(shell) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin":
		return unwrap(cmd)
	}
	return cmd
}
