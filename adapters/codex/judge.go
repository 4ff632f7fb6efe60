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
	"github.com/turnspec/turnspec/adapters/internal/codexcli"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// judgedPolicy is the approval policy with a Judge. In every version it makes
// the runtime ask most often. The sandbox is the mode's.
const judgedPolicy = "untrusted"

// unaskedTools are tools that the runtime never asks about, each with a call
// that represents all its calls and the setting that disables the tool. Older
// versions ignore the second setting.
var unaskedTools = []struct {
	call    adapters.Call
	setting string
}{
	{adapters.Call{Tool: "WebSearch", Input: event.Raw(`{"query":""}`)}, `web_search="disabled"`},
	{adapters.Call{Tool: "Read", Input: event.Raw(`{"file_path":"/"}`)}, "features.view_image=false"}, // it views any file
}

// alwaysPrompt is the setting that makes the runtime ask about tools that an
// MCP server declares read-only. Older versions ignore it.
const alwaysPrompt = `,default_tools_approval_mode="prompt"`

// disableArgs returns the arguments that disable tools that the judge denies
// and the runtime never asks about.
func disableArgs(ctx context.Context, o adapters.Options) []string {
	if o.Judge == nil {
		return nil
	}
	var args []string
	for _, u := range unaskedTools {
		u.call.Dir = o.Dir
		if o.Judge.Decide(ctx, u.call).Effect == adapters.EffectDeny {
			args = append(args, "-c", u.setting)
		}
	}
	return args
}

// judgeQuestion lets the Judge answer a permission. A question that does not name its subject is
// denied.
func (c *client) judgeQuestion(a *question, call adapters.Call) {
	judge := c.o.Judge
	if call.Tool == "" {
		judge = func(context.Context, adapters.Call) adapters.Verdict {
			return adapters.Verdict{Effect: adapters.EffectDeny}
		}
	}
	a.Judge(c.host, judge, call, c.unjudged, func(an adapters.Answer) { _ = c.t.answerQuestion(a, an) }) // it is the first answer and has no input
}

// callJudged runs a tool of the client, unless the Judge denies it.
func (c *client) callJudged(ctx context.Context, tool adapters.Tool, call adapters.ToolCall, j adapters.Call) (adapters.ToolAnswer, error) {
	if c.o.Judge != nil {
		if v := c.o.Judge.Decide(ctx, j); v.Effect == adapters.EffectDeny {
			return adapters.ToolAnswer{}, errors.New(v.Reason)
		}
	}
	return tool.Call(ctx, call)
}

// unjudged is what a mode decides that does not ask the user: it would not have asked without the
// Judge.
func (c *client) unjudged() event.Decision {
	switch c.wantedMode {
	case adapters.ModeNever:
		return event.DecisionAllow
	case adapters.ModeDontAsk:
		return event.DecisionDeny
	}
	return ""
}

// commandCall is a command as the Judge receives it: without the shell that the
// runtime wraps around it.
type commandCall struct {
	Command string `json:"command"`
}

// judgedCall returns the call that a question is about. Tool is empty if the
// question does not name it.
func (t *translator) judgedCall(a *question, d event.PermissionRequest) adapters.Call {
	p := &t.m.Params
	c := adapters.Call{Tool: d.ToolName, Input: d.ToolInput, Dir: string(p.Cwd), SubagentID: t.subID(a.th)}
	if c.Dir == "" && t.live != nil {
		c.Dir = t.live.o.Dir
	}
	if len(c.Input) == 0 || c.Input.Kind() == 'n' {
		c.Input = event.Raw("{}")
	}
	switch a.method {
	case methodCommandApproval, methodOldExec:
		cmd := p.commandText()
		c.Input = lenient.Encode(commandCall{withoutSystemShell(cmd)})
		switch {
		case p.Network.V != nil: // the command runs already and needs the network
			c.Tool, c.Input = "Network", lenient.Encode(p.Network.V)
		case p.Kind != "" && p.Kind != "command": // input to a running command
			c.Tool, c.Input = string(p.Kind), lenient.Encode(commandCall{cmd})
		case cmd == "":
			c.Tool = ""
		}
	case methodOldPatch:
		c.Input = lenient.Encode(changesInput{convertOldChanges(p.FileChanges)})
		if len(lenient.Decode[map[string]jsontext.Value](p.FileChanges)) == 0 {
			c.Tool = ""
		}
	case methodFileApproval:
		if len(changesOf(lenient.Decode[changesInput](c.Input).Changes)) == 0 {
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

// convertOldChanges converts the changes of older versions, which are keyed by
// file, to the current form.
func convertOldChanges(v jsontext.Value) jsontext.Value {
	out := []oldChange{}
	for file, b := range lenient.Decode[map[string]jsontext.Value](v) {
		ch := oldChange{Path: file}
		for kind, how := range lenient.Decode[map[string]jsontext.Value](b) {
			ch.Kind = oldKind{kind, string(lenient.Decode[changeKind](how).MovePath)}
		}
		out = append(out, ch)
	}
	slices.SortFunc(out, func(a, b oldChange) int { return strings.Compare(a.Path, b.Path) })
	return lenient.Encode(out)
}

// withoutSystemShell returns a command without the shell that the runtime
// wrapped around it. A shell outside the system directories was chosen by the
// model and stays.
func withoutSystemShell(cmd string) string {
	program, _, _ := strings.Cut(cmd, " ")
	switch path.Dir(program) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin":
		return codexcli.Unwrap(cmd)
	}
	return cmd
}
