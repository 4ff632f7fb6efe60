package model

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

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
		Also    []struct {
			Old string `json:"old"`
			New string `json:"new"`
		} `json:"also"`
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
	notebookInput struct {
		Path   string `json:"path"`
		Cell   string `json:"cell"`
		Kind   string `json:"kind"` // of an inserted cell: code, markdown
		Source string `json:"source"`
		Mode   string `json:"mode"` // replace, insert, delete
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
func decodeInput[T any](c *fixtures.ToolCall) (T, error) {
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
		if p.Tool.InvalidInput != "" {
			c.input = []byte(p.Tool.InvalidInput)
		}
		c.scenario = p.Tool
		out = append(out, c)
	}
	return out, nil
}

// pieces are the deltas in which the input is sent: only half of it if the call stays unfinished.
func (c wireCall) pieces() []string {
	in := string(c.input)
	if c.scenario.Unfinished {
		in = in[:len(in)/2]
	}
	n := max(c.scenario.Pieces, 1)
	out := make([]string, 0, n)
	for ; n > 1; n-- {
		size := len(in) / n
		for size < len(in) && !utf8.RuneStart(in[size]) {
			size++
		}
		out = append(out, in[:size])
		in = in[size:]
	}
	return append(out, in)
}

// errAlternates refuses deltas of several calls in turn.
var errAlternates = errors.New("alternates: the API sends one call after the other")

// otherCall calls a tool by a name that the runtime may not offer.
func otherCall(c *fixtures.ToolCall) (wireCall, error) {
	in, err := decodeInput[otherInput](c)
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

// notOffered is the error if a tool is not offered.
func notOffered(c *fixtures.ToolCall, o offer, want ...string) error {
	return fmt.Errorf("tool %s %q: the runtime does not offer %s; offered are: %s", c.Tool, c.ID, strings.Join(want, " or "), o)
}

// jsonCall makes a call with a JSON input.
func jsonCall(t offered, in any) (wireCall, error) {
	b, err := json.Marshal(in)
	return wireCall{kind: "function", namespace: t.namespace, name: t.name, input: b}, err
}

// shellWord quotes one word of a shell command. Plain words are not quoted, so that runtimes
// that parse commands get what a person would write.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./,:@%+=", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// prefixLines adds a sign before each line.
func prefixLines(sign, text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(sign)
		b.WriteString(strings.TrimSuffix(l, "\n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// taskName is a section's name in the form that Codex takes for a sub-agent.
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
