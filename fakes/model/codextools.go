package model

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// How long Codex waits for a command before it leaves it running: its
// maximum, so that no slow machine makes a background command of one that ends; and
// little for one that is meant to stay.
const (
	yieldLong  = 30000
	yieldShort = 250
)

// codexCall translates for Codex.
func codexCall(c *fixtures.ToolCall, o offer) (wireCall, error) {
	switch c.Tool {
	case "shell":
		in, err := decodeInput[shellInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexShell(c, o, in)
	case "read":
		in, err := decodeInput[readInput](c)
		if err != nil {
			return wireCall{}, err
		}
		if in.Rows != 0 {
			from := max(in.From, 1)
			return codexShell(c, o, shellInput{Command: fmt.Sprintf("sed -n '%d,%dp' %s", from, from+in.Rows-1, shellWord(in.Path))})
		}
		return codexShell(c, o, shellInput{Command: "cat " + shellWord(in.Path)})
	case "search":
		in, err := decodeInput[searchInput](c)
		if err != nil {
			return wireCall{}, err
		}
		if in.Path == "" {
			in.Path = "."
		}
		return codexShell(c, o, shellInput{Command: "grep -rn " + shellWord(in.Pattern) + " " + shellWord(in.Path)})
	case "write":
		in, err := decodeInput[writeInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPatch(c, o, "*** Add File: "+in.Path+"\n"+prefixLines("+", in.Content))
	case "edit":
		in, err := decodeInput[editInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPatch(c, o, "*** Update File: "+in.Path+"\n@@\n"+prefixLines("-", in.Old)+prefixLines("+", in.New))
	case "patch":
		in, err := decodeInput[patchInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPatch(c, o, in.body())
	case "stdin":
		return codexStdin(c, o)
	case "other":
		return otherCall(c)
	case "web":
		return codexWeb(c, o)
	case "mcp":
		in, err := decodeInput[mcpInput](c)
		if err != nil {
			return wireCall{}, err
		}
		ns, tool := "mcp__"+codexName(in.Server), codexName(in.Tool)
		if t, ok := o.findTool(ns + "__" + tool); ok { // older versions have no namespaces
			return wireCall{kind: "function", name: t.name, input: arguments(in.Arguments)}, nil
		}
		if !o.canCall(ns, tool) {
			return wireCall{}, notOffered(c, o, ns+"."+tool)
		}
		return wireCall{kind: "function", namespace: ns, name: tool, input: arguments(in.Arguments)}, nil
	case "view", "client", "discover":
		return codexExtension(c, o)
	case "subagent":
		return codexSubagent(c, o)
	case "ask":
		return codexAsk(c, o)
	case "plan":
		in, err := decodeInput[planInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPlan(c, o, in.Steps, in.Plan)
	case "todo":
		in, err := decodeInput[todoInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPlan(c, o, in.Steps, in.Explanation)
	}
	return wireCall{}, fmt.Errorf("tool %s %q: no translation for Codex", c.Tool, c.ID)
}

// codexName returns the name of an MCP server or of its tool as Codex offers it.
func codexName(name string) string { return strings.NewReplacer("-", "_", ".", "_").Replace(name) }

func codexShell(c *fixtures.ToolCall, o offer, in shellInput) (wireCall, error) {
	t, ok := o.findTool("exec_command")
	if !ok {
		return wireCall{}, notOffered(c, o, "exec_command")
	}
	out := struct {
		Cmd           string `json:"cmd"`
		Yield         int    `json:"yield_time_ms"`
		TTY           bool   `json:"tty,omitzero"`
		Permissions   string `json:"sandbox_permissions,omitzero"`
		Justification string `json:"justification,omitzero"`
	}{Cmd: in.Command, Yield: yieldLong, TTY: in.TTY}
	if in.Background {
		out.Yield = yieldShort
	}
	if in.YieldMS != 0 {
		out.Yield = in.YieldMS
	}
	if in.Ask {
		out.Permissions, out.Justification = "require_escalated", in.Reason
		if in.Reason == "" {
			out.Justification = "May I run this outside of the sandbox?"
		}
	}
	return jsonCall(t, out)
}

func codexPatch(c *fixtures.ToolCall, o offer, body string) (wireCall, error) {
	t, ok := o.findTool("apply_patch")
	if !ok {
		return wireCall{}, notOffered(c, o, "apply_patch")
	}
	patch := "*** Begin Patch\n" + body + "*** End Patch"
	if t.kind == "custom" {
		return wireCall{kind: "custom", namespace: t.namespace, name: t.name, input: []byte(patch)}, nil
	}
	return jsonCall(t, struct {
		Input string `json:"input"`
	}{patch})
}

// body is the patch between its marks.
func (in patchInput) body() string {
	var b strings.Builder
	for _, c := range in.Changes {
		switch {
		case c.Add != "":
			b.WriteString("*** Add File: " + c.Add + "\n" + prefixLines("+", c.Content))
		case c.Delete != "":
			b.WriteString("*** Delete File: " + c.Delete + "\n")
		default:
			b.WriteString("*** Update File: " + c.Update + "\n")
			if c.Move != "" {
				b.WriteString("*** Move to: " + c.Move + "\n")
			}
			b.WriteString("@@\n" + prefixLines("-", c.Old) + prefixLines("+", c.New))
			for _, h := range c.Also {
				b.WriteString("@@\n" + prefixLines("-", h.Old) + prefixLines("+", h.New))
			}
		}
	}
	return b.String()
}

// running is what Codex reports to the model about a command that it left running.
var running = regexp.MustCompile(`session ID (\d+)`)

// codexStdin types into a command that an earlier call left running.
func codexStdin(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := decodeInput[stdinInput](c)
	if err != nil {
		return wireCall{}, err
	}
	t, ok := o.findTool("write_stdin")
	if !ok {
		return wireCall{}, notOffered(c, o, "write_stdin")
	}
	m := running.FindStringSubmatch(o.resultTexts[in.To])
	if m == nil {
		return wireCall{}, fmt.Errorf("tool %s %q: the result of %q names no command that runs: %q", c.Tool, c.ID, in.To, o.resultTexts[in.To])
	}
	return jsonCall(t, struct {
		Session jsontext.Value `json:"session_id"`
		Chars   string         `json:"chars"`
		Yield   int            `json:"yield_time_ms"`
	}{jsontext.Value(m[1]), in.Text, yieldLong})
}

// webAction is what the hosted web search did.
type webAction struct {
	Type    string `json:"type"`
	Query   string `json:"query,omitzero"`
	URL     string `json:"url,omitzero"`
	Pattern string `json:"pattern,omitzero"`
}

// codexWeb makes an item of the hosted web search: the model has done it by itself, and no
// result comes back.
func codexWeb(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := decodeInput[webInput](c)
	if err != nil {
		return wireCall{}, err
	}
	for _, t := range o.tools {
		if t.kind != "web_search" {
			continue
		}
		act := webAction{Type: "search", Query: in.Query}
		if in.URL != "" {
			act = webAction{Type: "open_page", URL: in.URL}
		}
		if in.Pattern != "" {
			act.Type, act.Pattern = "find_in_page", in.Pattern
		}
		b, err := json.Marshal(act)
		return wireCall{kind: "web", name: "web_search", input: b}, err
	}
	return wireCall{}, notOffered(c, o, "web_search")
}

func codexAsk(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := decodeInput[askInput](c)
	if err != nil {
		return wireCall{}, err
	}
	t, ok := o.findTool("request_user_input")
	if !ok {
		return wireCall{}, notOffered(c, o, "request_user_input")
	}
	type wire struct {
		ID       string   `json:"id"`
		Header   string   `json:"header"`
		Question string   `json:"question"`
		Options  []option `json:"options"`
	}
	var out struct {
		Questions []wire `json:"questions"`
	}
	for i, q := range in.Questions {
		if q.ID == "" {
			q.ID = fmt.Sprintf("q%d", i+1)
		}
		out.Questions = append(out.Questions, wire{q.ID, q.Header, q.Question, described(q.Options)})
	}
	return jsonCall(t, out)
}

func codexPlan(c *fixtures.ToolCall, o offer, in []step, why string) (wireCall, error) {
	t, ok := o.findTool("update_plan")
	if !ok {
		return wireCall{}, notOffered(c, o, "update_plan")
	}
	return jsonCall(t, struct {
		Explanation string `json:"explanation,omitzero"`
		Plan        []step `json:"plan"`
	}{why, steps(in)})
}
