package model

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

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
		in, err := input[shellInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexShell(c, o, in)
	case "read":
		in, err := input[readInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexShell(c, o, shellInput{Command: "cat " + quote(in.Path)})
	case "search":
		in, err := input[searchInput](c)
		if err != nil {
			return wireCall{}, err
		}
		if in.Path == "" {
			in.Path = "."
		}
		return codexShell(c, o, shellInput{Command: "grep -rn " + quote(in.Pattern) + " " + quote(in.Path)})
	case "write":
		in, err := input[writeInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPatch(c, o, "*** Add File: "+in.Path+"\n"+prefixed("+", in.Content))
	case "edit":
		in, err := input[editInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPatch(c, o, "*** Update File: "+in.Path+"\n@@\n"+prefixed("-", in.Old)+prefixed("+", in.New))
	case "web":
		return codexWeb(c, o)
	case "mcp":
		in, err := input[mcpInput](c)
		if err != nil {
			return wireCall{}, err
		}
		ns := "mcp__" + in.Server
		if !o.has(ns, in.Tool) {
			return wireCall{}, missing(c, o, ns+"."+in.Tool)
		}
		return wireCall{kind: "function", namespace: ns, name: in.Tool, input: arguments(in)}, nil
	case "subagent":
		return codexSubagent(c, o)
	case "ask":
		return codexAsk(c, o)
	case "plan":
		in, err := input[planInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPlan(c, o, in.Steps, in.Plan)
	case "todo":
		in, err := input[todoInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return codexPlan(c, o, in.Steps, in.Explanation)
	}
	return wireCall{}, fmt.Errorf("tool %s %q: no translation for Codex", c.Tool, c.ID)
}

func codexShell(c *fixtures.ToolCall, o offer, in shellInput) (wireCall, error) {
	t, ok := o.find("exec_command")
	if !ok {
		return wireCall{}, missing(c, o, "exec_command")
	}
	out := struct {
		Cmd           string `json:"cmd"`
		Yield         int    `json:"yield_time_ms"`
		Permissions   string `json:"sandbox_permissions,omitzero"`
		Justification string `json:"justification,omitzero"`
	}{Cmd: in.Command, Yield: yieldLong}
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
	t, ok := o.find("apply_patch")
	if !ok {
		return wireCall{}, missing(c, o, "apply_patch")
	}
	patch := "*** Begin Patch\n" + body + "*** End Patch"
	if t.kind == "custom" {
		return wireCall{kind: "custom", namespace: t.namespace, name: t.name, input: []byte(patch)}, nil
	}
	return jsonCall(t, struct {
		Input string `json:"input"`
	}{patch})
}

// webAction is what the hosted web search did.
type webAction struct {
	Type  string `json:"type"`
	Query string `json:"query,omitzero"`
	URL   string `json:"url,omitzero"`
}

// codexWeb makes an item of the hosted web search: the model has done it by itself, and no
// result comes back.
func codexWeb(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := input[webInput](c)
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
		b, err := json.Marshal(act)
		return wireCall{kind: "web", name: "web_search", input: b}, err
	}
	return wireCall{}, missing(c, o, "web_search")
}

func codexSubagent(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := input[subagentInput](c)
	if err != nil {
		return wireCall{}, err
	}
	name := "spawn_agent"
	if in.Wait {
		name = "wait_agent"
	}
	t, ok := o.find(name)
	if !ok && slices.Contains(o.deferred, "multi_agent_v1") {
		t, ok = offered{kind: "function", namespace: "multi_agent_v1", name: name}, true
	}
	if !ok {
		return wireCall{}, missing(c, o, name)
	}
	if in.Wait {
		return jsonCall(t, struct {
			Timeout int `json:"timeout_ms"`
		}{yieldLong})
	}
	if t.namespace == "collaboration" {
		return jsonCall(t, struct {
			Name    string `json:"task_name"`
			Message string `json:"message"`
			Fork    string `json:"fork_turns"`
		}{taskName(in.Name), in.Prompt, "none"})
	}
	return jsonCall(t, struct {
		Message string `json:"message"`
	}{in.Prompt})
}

func codexAsk(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := input[askInput](c)
	if err != nil {
		return wireCall{}, err
	}
	t, ok := o.find("request_user_input")
	if !ok {
		return wireCall{}, missing(c, o, "request_user_input")
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
	t, ok := o.find("update_plan")
	if !ok {
		return wireCall{}, missing(c, o, "update_plan")
	}
	return jsonCall(t, struct {
		Explanation string `json:"explanation,omitzero"`
		Plan        []step `json:"plan"`
	}{why, steps(in)})
}
