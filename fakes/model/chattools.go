package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// Many agents use chat completions, and each has tools of its own. A call is translated by what
// the request declares: the tool's name, and which members its input has.

// chatInput is an input by the names of its members. Each name may have alternatives, of
// which the first that the tool declares is used: "filePath|path".
type chatInput map[string]any

// chatCall translates for agents that use chat completions.
func chatCall(c *fixtures.ToolCall, o offer, dir string) (wireCall, error) {
	switch c.Tool {
	case "shell":
		return translateChat(c, o, func(in shellInput) (chatInput, error) {
			if in.Background || in.YieldMS != 0 || in.Ask || in.TTY {
				return nil, fmt.Errorf("tool %s %q: the agent's shell takes a command and a timeout only", c.Tool, c.ID)
			}
			out := chatInput{"command|cmd": in.Command, "?description": "Run a command", "?is_background": false}
			if in.TimeoutMS != 0 {
				out["timeout"] = in.TimeoutMS
			}
			return out, nil
		}, "bash", "shell", "run_shell_command")
	case "read", "view":
		return translateChat(c, o, func(in readInput) (chatInput, error) {
			p, err := absolute(c, dir, in.Path)
			out := chatInput{"filePath|path|file_path": p}
			if t, ok := o.findTool("view"); ok && in.From != 0 && in.Rows != 0 && t.members["view_range"] != "" {
				out["view_range"] = []int{in.From, in.From + in.Rows - 1}
				return out, err
			}
			if in.From != 0 {
				out["offset"] = in.From
			}
			if in.Rows != 0 {
				out["limit"] = in.Rows
			}
			return out, err
		}, "read", "read_file", "view")
	case "write":
		return translateChat(c, o, func(in writeInput) (chatInput, error) {
			p, err := absolute(c, dir, in.Path)
			return chatInput{"filePath|path|file_path": p, "content|file_text": in.Content}, err
		}, "write", "write_file", "create")
	case "edit":
		return translateChat(c, o, func(in editInput) (chatInput, error) {
			p, err := absolute(c, dir, in.Path)
			one := map[string]string{"oldText": in.Old, "newText": in.New}
			return chatInput{"filePath|path|file_path": p, "?edits": []any{one}, "?oldString|oldText|old_string|old_str": in.Old, "?newString|newText|new_string|new_str": in.New}, err
		}, "edit", "edit_file")
	case "search":
		return translateChat(c, o, func(in searchInput) (chatInput, error) {
			out := chatInput{"pattern": in.Pattern}
			if in.Path != "" {
				out["path|paths"] = in.Path
			}
			return out, nil
		}, "grep", "search", "grep_search")
	case "web":
		return chatWeb(c, o)
	case "subagent":
		return translateChat(c, o, func(in subagentInput) (chatInput, error) {
			if in.Prompt == "" || in.Background != nil && *in.Background {
				return nil, fmt.Errorf("tool %s %q: the agent can only start a sub-agent and wait for it", c.Tool, c.ID)
			}
			return chatInput{"description": in.Name, "prompt": in.Prompt, "subagent_type": cmp.Or(in.Type, "general")}, nil
		}, "task")
	case "ask":
		return translateChat(c, o, func(in askInput) (chatInput, error) { return chatInput{"questions": chatQuestions(in)}, nil }, "question", "ask")
	case "todo":
		return translateChat(c, o, func(in todoInput) (chatInput, error) { return chatInput{"todos": chatTodos(in)}, nil }, "todowrite")
	case "patch":
		return translateChat(c, o, func(in patchInput) (chatInput, error) {
			return chatInput{"patchText|input|patch": "*** Begin Patch\n" + in.body() + "*** End Patch"}, nil
		}, "apply_patch")
	case "client":
		in, err := decodeInput[clientInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return declaredCall(c, o, arguments(in.Arguments), in.Tool)
	case "structured":
		in, err := decodeInput[structuredInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return declaredCall(c, o, arguments(in.Value), "StructuredOutput")
	case "mcp":
		in, err := decodeInput[mcpInput](c)
		if err != nil {
			return wireCall{}, err
		}
		server, tool := claudeName(in.Server), claudeName(in.Tool)
		return declaredCall(c, o, arguments(in.Arguments), server+"_"+tool, "mcp__"+server+"__"+tool, server+"__"+tool, server+"-"+tool)
	case "other":
		return otherCall(c)
	}
	return wireCall{}, fmt.Errorf("tool %s %q: no translation for chat completions", c.Tool, c.ID)
}

// declaredCall calls the first of these tools that is offered.
func declaredCall(c *fixtures.ToolCall, o offer, input []byte, names ...string) (wireCall, error) {
	t, ok := o.findTool(names...)
	if !ok {
		return wireCall{}, notOffered(c, o, names...)
	}
	return wireCall{kind: "function", name: t.name, input: input}, nil
}

// translateChat calls the first of these tools that is offered, with the members that it declares.
// A member whose name begins with ? is left out if the tool does not declare it; to leave out
// any other is an error.
func translateChat[T any](c *fixtures.ToolCall, o offer, f func(T) (chatInput, error), names ...string) (wireCall, error) {
	in, err := decodeInput[T](c)
	if err != nil {
		return wireCall{}, err
	}
	wanted, err := f(in)
	if err != nil {
		return wireCall{}, err
	}
	t, ok := o.findTool(names...)
	if !ok {
		return wireCall{}, notOffered(c, o, names...)
	}
	out := map[string]any{}
	for members, value := range wanted {
		members, optional := strings.CutPrefix(members, "?")
		name, description, ok := t.member(strings.Split(members, "|")...)
		switch {
		case !ok && !optional:
			return wireCall{}, fmt.Errorf("tool %s %q: the input of %s has no member %s", c.Tool, c.ID, t.name, strings.ReplaceAll(members, "|", " or "))
		case !ok:
			continue
		}
		if ms, isInt := value.(int); name == "timeout" && isInt && inSeconds(description) {
			value = (ms + 999) / 1000
		}
		out[name] = value
	}
	b, err := json.Marshal(out, json.Deterministic(true))
	return wireCall{kind: "function", name: t.name, input: b}, err
}

// member returns the first of these members that a tool declares, with its description.
func (t offered) member(names ...string) (name, description string, ok bool) {
	for _, n := range names {
		if d, ok := t.members[n]; ok {
			return n, d, true
		}
	}
	return "", "", false
}

// inSeconds reports whether a time is described as one in seconds.
func inSeconds(description string) bool {
	d := strings.ToLower(description)
	return strings.Contains(d, "second") && !strings.Contains(d, "millisecond")
}

func chatWeb(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := decodeInput[webInput](c)
	if err != nil {
		return wireCall{}, err
	}
	if in.URL == "" {
		return translateChat(c, o, func(in webInput) (chatInput, error) { return chatInput{"query": in.Query}, nil }, "websearch", "web_search")
	}
	return translateChat(c, o, func(in webInput) (chatInput, error) {
		return chatInput{"url": in.URL, "?format": "text"}, nil
	}, "webfetch", "web_fetch")
}

func chatQuestions(in askInput) any {
	type wire struct {
		Question string   `json:"question"`
		Header   string   `json:"header"`
		Options  []option `json:"options"`
		Multi    bool     `json:"multiple,omitzero"`
	}
	var out []wire
	for _, q := range in.Questions {
		out = append(out, wire{q.Question, q.Header, described(q.Options), q.Multi})
	}
	return out
}

func chatTodos(in todoInput) any {
	type todo struct {
		Content  string `json:"content"`
		Status   string `json:"status"`
		Priority string `json:"priority"`
	}
	var out []todo
	for _, s := range steps(in.Steps) {
		out = append(out, todo{s.Step, s.Status, "medium"})
	}
	return out
}
