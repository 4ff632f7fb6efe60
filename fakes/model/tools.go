package model

import (
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// The neutral inputs of scenarios, see doc.go.
type (
	shellInput struct {
		Command    string `json:"command"`
		Background bool   `json:"background"`
		YieldMS    int    `json:"yield_ms"`
		Ask        bool   `json:"ask"`
		Reason     string `json:"reason"`
		TTY        bool   `json:"tty"`
		TimeoutMS  int    `json:"timeout_ms"`
	}
	readInput struct {
		Path string `json:"path"`
		From int    `json:"from"`
		Rows int    `json:"lines"`
	}
	patchInput struct {
		Changes []patchChange `json:"changes"`
	}
	patchChange struct {
		Add     string `json:"add"`
		Content string `json:"content"`
		Delete  string `json:"delete"`
		Update  string `json:"update"`
		Move    string `json:"move"`
		Old     string `json:"old"`
		New     string `json:"new"`
	}
	stdinInput struct {
		To   string `json:"to"`
		Text string `json:"text"`
	}
	otherInput struct {
		Name      string         `json:"name"`
		Namespace string         `json:"namespace"`
		Input     jsontext.Value `json:"input"`
		Script    string         `json:"script"`
	}
	writeInput struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	editInput struct {
		Path string `json:"path"`
		Old  string `json:"old"`
		New  string `json:"new"`
	}
	searchInput struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
	}
	webInput struct {
		URL     string `json:"url"`
		Query   string `json:"query"`
		Pattern string `json:"pattern"`
	}
	mcpInput struct {
		Server    string         `json:"server"`
		Tool      string         `json:"tool"`
		Arguments jsontext.Value `json:"arguments"`
	}
	clientInput struct {
		Tool      string         `json:"tool"`
		Arguments jsontext.Value `json:"arguments"`
	}
	structuredInput struct {
		Value jsontext.Value `json:"value"`
	}
	discoverInput struct {
		Query string `json:"query"`
	}
	askInput struct {
		Questions []question `json:"questions"`
	}
	question struct {
		ID       string   `json:"id"`
		Header   string   `json:"header"`
		Question string   `json:"question"`
		Options  []option `json:"options"`
		Multi    bool     `json:"multi"`
	}
	option struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	}
	planInput struct {
		Plan  string `json:"plan"`
		Steps []step `json:"steps"`
	}
	todoInput struct {
		Steps       []step `json:"steps"`
		Explanation string `json:"explanation"`
	}
	step struct {
		Step   string `json:"step"`
		Status string `json:"status"` // pending, in_progress, completed
	}
)

// input reads a neutral input strictly.
func input[T any](c *fixtures.ToolCall) (T, error) {
	var in T
	if err := json.Unmarshal(c.Input, &in, json.RejectUnknownMembers(true)); err != nil {
		return in, fmt.Errorf("tool %s %q: input: %w", c.Tool, c.ID, err)
	}
	return in, nil
}

// eachCall translates the tool calls of a reply.
func eachCall(parts []fixtures.Part, f func(*fixtures.ToolCall) (wireCall, error)) ([]wireCall, error) {
	var out []wireCall
	for _, p := range parts {
		if p.Tool == nil {
			continue
		}
		c, err := f(p.Tool)
		if err != nil {
			return nil, err
		}
		if p.Tool.Spoil != "" {
			c.input = []byte(p.Tool.Spoil)
		}
		c.scenario = p.Tool
		out = append(out, c)
	}
	return out, nil
}

// otherCall calls by a name that no runtime need offer.
func otherCall(c *fixtures.ToolCall) (wireCall, error) {
	in, err := input[otherInput](c)
	switch {
	case err != nil:
		return wireCall{}, err
	case in.Name == "":
		return wireCall{}, fmt.Errorf("tool %s %q: input: no name", c.Tool, c.ID)
	case in.Script != "":
		return wireCall{kind: "custom", namespace: in.Namespace, name: in.Name, input: []byte(in.Script)}, nil
	case in.Input == nil:
		in.Input = jsontext.Value("{}")
	}
	return wireCall{kind: "function", namespace: in.Namespace, name: in.Name, input: in.Input}, nil
}

// missing says that a tool is not offered.
func missing(c *fixtures.ToolCall, o offer, want ...string) error {
	return fmt.Errorf("tool %s %q: the runtime does not offer %s; offered are: %s", c.Tool, c.ID, strings.Join(want, " or "), o)
}

// jsonCall makes a call with a JSON input.
func jsonCall(t offered, in any) (wireCall, error) {
	b, err := json.Marshal(in)
	return wireCall{kind: "function", namespace: t.namespace, name: t.name, input: b}, err
}

// quote makes one word of a shell line. What is plain stays plain, so that runtimes
// which look into commands see what a person would write.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./,:@%+=", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// prefixed puts a sign before each line.
func prefixed(sign, text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(sign)
		b.WriteString(strings.TrimSuffix(l, "\n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// taskName is a section's name as Codex takes it for a sub-agent.
func taskName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(s))
}

// absolute joins a path of the workspace.
func absolute(c *fixtures.ToolCall, dir, p string) (string, error) {
	if path.IsAbs(p) {
		return p, nil
	}
	if dir == "" {
		return "", fmt.Errorf("tool %s %q: path %q is relative and the model was started without a workspace", c.Tool, c.ID, p)
	}
	return path.Join(dir, p), nil
}

// claudeCall translates for Claude Code.
func claudeCall(c *fixtures.ToolCall, o offer, dir string) (wireCall, error) {
	find := func(names ...string) (offered, error) {
		t, ok := o.find(names...)
		if !ok {
			return t, missing(c, o, names...)
		}
		return t, nil
	}
	make1 := func(in any, names ...string) (wireCall, error) {
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
		in, err := input[shellInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return make1(struct {
			Command    string `json:"command"`
			Timeout    int    `json:"timeout,omitzero"`
			Background bool   `json:"run_in_background,omitzero"`
		}{in.Command, in.TimeoutMS, in.Background}, "Bash")
	case "read", "view":
		in, err := input[readInput](c)
		if err != nil {
			return wireCall{}, err
		}
		p, err := absolute(c, dir, in.Path)
		if err != nil {
			return wireCall{}, err
		}
		return make1(file{Path: p, Offset: in.From, Limit: in.Rows}, "Read")
	case "write":
		in, err := input[writeInput](c)
		if err != nil {
			return wireCall{}, err
		}
		p, err := absolute(c, dir, in.Path)
		if err != nil {
			return wireCall{}, err
		}
		return make1(file{Path: p, Content: &in.Content}, "Write")
	case "edit":
		in, err := input[editInput](c)
		if err != nil {
			return wireCall{}, err
		}
		p, err := absolute(c, dir, in.Path)
		if err != nil {
			return wireCall{}, err
		}
		return make1(file{Path: p, Old: &in.Old, New: &in.New}, "Edit")
	case "search":
		in, err := input[searchInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return make1(struct {
			Pattern string `json:"pattern"`
			Path    string `json:"path,omitzero"`
			Mode    string `json:"output_mode"`
		}{in.Pattern, in.Path, "content"}, "Grep")
	case "web":
		in, err := input[webInput](c)
		if err != nil {
			return wireCall{}, err
		}
		if in.URL != "" {
			return make1(struct {
				URL    string `json:"url"`
				Prompt string `json:"prompt"`
			}{in.URL, "What does it say?"}, "WebFetch")
		}
		return make1(struct {
			Query string `json:"query"`
		}{in.Query}, "WebSearch")
	case "mcp":
		in, err := input[mcpInput](c)
		if err != nil {
			return wireCall{}, err
		}
		t, err := find("mcp__" + in.Server + "__" + in.Tool)
		return wireCall{kind: "function", name: t.name, input: arguments(in.Arguments)}, err
	case "client", "structured", "discover":
		return claudeExtension(c, o)
	case "subagent":
		return claudeSubagent(c, o)
	case "ask":
		in, err := input[askInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return make1(claudeQuestions(in), "AskUserQuestion")
	case "plan":
		in, err := input[planInput](c)
		if err != nil {
			return wireCall{}, err
		}
		return make1(struct {
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
	in, err := input[todoInput](c)
	if err != nil {
		return wireCall{}, err
	}
	if t, ok := o.find("TodoWrite"); ok {
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
	t, ok := o.find("TaskCreate")
	if !ok {
		return wireCall{}, missing(c, o, "TodoWrite", "TaskCreate")
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
