package model

import (
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// claudeCall translates for Claude Code.
func claudeCall(c *fixtures.ToolCall, o offer, dir string) (wireCall, error) {
	find := func(names ...string) (offered, error) {
		t, ok := o.findTool(names...)
		if !ok {
			return t, notOffered(c, o, names...)
		}
		return t, nil
	}
	callTool := func(in any, names ...string) (wireCall, error) {
		t, err := find(names...)
		if err != nil {
			return wireCall{}, err
		}
		return jsonCall(t, in)
	}
	type file struct {
		Path    string  `json:"file_path"`
		Offset  int     `json:"offset,omitzero"`
		Limit   int     `json:"limit,omitzero"`
		Content *string `json:"content,omitzero"`
		Old     *string `json:"old_string,omitzero"`
		New     *string `json:"new_string,omitzero"`
	}
	switch c.Tool {
	case "shell":
		in, err := decodeInput[shellInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return callTool(struct {
			Command    string `json:"command"`
			Timeout    int    `json:"timeout,omitzero"`
			Background bool   `json:"run_in_background,omitzero"`
		}{in.Command, in.TimeoutMS, in.Background}, "Bash")
	case "read", "view":
		in, err := decodeInput[readInput](c)
		if err != nil {
			return wireCall{}, err
		}
		p, err := absolute(c, dir, in.Path)
		if err != nil {
			return wireCall{}, err
		}
		return callTool(file{Path: p, Offset: in.From, Limit: in.Rows}, "Read")
	case "write":
		in, err := decodeInput[writeInput](c)
		if err != nil {
			return wireCall{}, err
		}
		p, err := absolute(c, dir, in.Path)
		if err != nil {
			return wireCall{}, err
		}
		return callTool(file{Path: p, Content: &in.Content}, "Write")
	case "edit":
		in, err := decodeInput[editInput](c)
		if err != nil {
			return wireCall{}, err
		}
		p, err := absolute(c, dir, in.Path)
		if err != nil {
			return wireCall{}, err
		}
		return callTool(file{Path: p, Old: &in.Old, New: &in.New}, "Edit")
	case "notebook":
		in, err := decodeInput[notebookInput](c)
		if err != nil {
			return wireCall{}, err
		}
		p, err := absolute(c, dir, in.Path)
		if err != nil {
			return wireCall{}, err
		}
		return callTool(struct {
			Path   string `json:"notebook_path"`
			Cell   string `json:"cell_id,omitzero"`
			Kind   string `json:"cell_type,omitzero"`
			Source string `json:"new_source"`
			Mode   string `json:"edit_mode,omitzero"`
		}{p, in.Cell, in.Kind, in.Source, in.Mode}, "NotebookEdit")
	case "search":
		in, err := decodeInput[searchInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return callTool(struct {
			Pattern string `json:"pattern"`
			Path    string `json:"path,omitzero"`
			Mode    string `json:"output_mode"`
		}{in.Pattern, in.Path, "content"}, "Grep")
	case "web":
		in, err := decodeInput[webInput](c)
		if err != nil {
			return wireCall{}, err
		}
		if in.URL != "" {
			return callTool(struct {
				URL    string `json:"url"`
				Prompt string `json:"prompt"`
			}{in.URL, "What does it say?"}, "WebFetch")
		}
		return callTool(struct {
			Query string `json:"query"`
		}{in.Query}, "WebSearch")
	case "mcp":
		in, err := decodeInput[mcpInput](c)
		if err != nil {
			return wireCall{}, err
		}
		t, err := find("mcp__" + claudeName(in.Server) + "__" + claudeName(in.Tool))
		return wireCall{kind: "function", name: t.name, input: arguments(in.Arguments)}, err
	case "client", "structured", "discover":
		return claudeExtension(c, o)
	case "subagent":
		return claudeSubagent(c, o)
	case "ask":
		in, err := decodeInput[askInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return callTool(claudeQuestions(in), "AskUserQuestion")
	case "plan":
		in, err := decodeInput[planInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return callTool(struct {
			Plan string `json:"plan,omitzero"`
		}{in.Plan}, "ExitPlanMode")
	case "todo":
		return claudeTodo(c, o)
	}
	if c.Tool == "other" {
		return otherCall(c)
	}
	return wireCall{}, fmt.Errorf("tool %s %q: no translation for Claude Code", c.Tool, c.ID)
}

// notInNames are the signs that Claude Code replaces in the names of MCP servers and
// their tools.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

func claudeName(name string) string { return notInNames.ReplaceAllString(name, "_") }

// arguments are those of a call; without any they are an object without
// members.
func arguments(in jsontext.Value) []byte {
	if in == nil {
		return []byte("{}")
	}
	return in
}

func claudeQuestions(in askInput) any {
	type wire struct {
		Question string   `json:"question"`
		Header   string   `json:"header"`
		Options  []option `json:"options"`
		Multi    bool     `json:"multiSelect"`
	}
	var out struct {
		Questions []wire `json:"questions"`
	}
	for _, q := range in.Questions {
		out.Questions = append(out.Questions, wire{q.Question, q.Header, described(q.Options), q.Multi})
	}
	return out
}

// described gives each option the description that runtimes demand.
func described(in []option) []option {
	out := make([]option, len(in))
	for i, o := range in {
		if o.Description == "" {
			o.Description = o.Label
		}
		out[i] = o
	}
	return out
}

func claudeTodo(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := decodeInput[todoInput](c)
	if err != nil {
		return wireCall{}, err
	}
	if t, ok := o.findTool("TodoWrite"); ok {
		type todo struct {
			Content string `json:"content"`
			Status  string `json:"status"`
			Active  string `json:"activeForm"`
		}
		var out struct {
			Todos []todo `json:"todos"`
		}
		for _, s := range steps(in.Steps) {
			out.Todos = append(out.Todos, todo{s.Step, s.Status, s.Step})
		}
		return jsonCall(t, out)
	}
	t, ok := o.findTool("TaskCreate")
	if !ok {
		return wireCall{}, notOffered(c, o, "TodoWrite", "TaskCreate")
	}
	if len(in.Steps) != 1 {
		return wireCall{}, fmt.Errorf("tool %s %q: %s takes one step, got %d", c.Tool, c.ID, t.name, len(in.Steps))
	}
	return jsonCall(t, struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	}{in.Steps[0].Step, in.Steps[0].Step})
}

// steps gives each step a status.
func steps(in []step) []step {
	out := make([]step, len(in))
	for i, s := range in {
		if s.Status == "" {
			s.Status = "pending"
		}
		out[i] = s
	}
	return out
}
