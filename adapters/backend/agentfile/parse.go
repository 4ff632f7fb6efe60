package agentfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

// Parse reads a definition. It returns all errors that it finds, joined, each an
// *Error. The file name only appears in errors.
func Parse(f Form, file string, text []byte) (Agent, error) {
	if err := f.Valid(); err != nil {
		return Agent{}, err
	}
	p := &parser{a: Agent{File: file}}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if f == Codex {
		p.parseTOML(text)
	} else {
		p.parseMarkdown(text)
	}
	if len(p.errs) == 0 {
		return p.a, nil
	}
	var all []error
	for _, err := range p.errs {
		all = append(all, err)
	}
	return Agent{}, errors.Join(all...)
}

type parser struct {
	a    Agent
	errs []*Error
}

func (p *parser) appendError(line int, format string, args ...any) {
	p.errs = append(p.errs, &Error{p.a.File, line, fmt.Errorf(format, args...)})
}

// fence is the line before and after the keys of a Markdown definition.
const fence = "---"

func (p *parser) parseMarkdown(text []byte) {
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	if strings.TrimRight(lines[0], " \t") != fence {
		p.appendError(1, "want a line of --- and then the keys name: and description:, got %s", quoteLine(lines[0]))
		return
	}
	end := slices.IndexFunc(lines[1:], func(l string) bool { return strings.TrimRight(l, " \t") == fence }) + 1
	if end == 0 {
		p.appendError(1, "the keys are not closed: want a second line of ---")
		return
	}
	p.parseKeys(strings.Join(lines[1:end], "\n"))
	if p.a.Instructions = strings.TrimSpace(strings.Join(lines[end+1:], "\n")); p.a.Instructions == "" {
		p.appendError(end+1, "no instructions follow the keys")
	}
}

// yamlLine matches the line number of a YAML error, because the library returns it
// only as text.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parseKeys reads the keys of a Markdown definition, which begin on line 2.
func (p *parser) parseKeys(text string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		m := yamlLine.FindStringSubmatch(err.Error())
		line := 0
		if m != nil {
			line, _ = strconv.Atoi(m[1]) // none: 0
		}
		p.appendError(line+1, "%s", yamlLine.ReplaceAllString(err.Error(), ""))
		return
	}
	seen := map[string]int{}
	if len(doc.Content) > 0 {
		root := doc.Content[0]
		if root.Kind != yaml.MappingNode {
			p.appendError(root.Line+1, "want keys such as name: and description:")
			return
		}
		for i := 0; i+1 < len(root.Content); i += 2 {
			k, v := root.Content[i], root.Content[i+1]
			if first, twice := seen[k.Value]; twice {
				p.appendError(k.Line+1, "duplicate key %s; first on line %d", k.Value, first)
				continue
			}
			seen[k.Value] = k.Line + 1
			p.setKey(k.Value, v)
		}
	}
	for _, k := range []string{"name", "description"} {
		if seen[k] == 0 {
			p.appendError(1, "the key %s is missing", k)
		}
	}
}

func (p *parser) setKey(k string, v *yaml.Node) {
	into := map[string]*string{"name": &p.a.Name, "description": &p.a.Description, "model": &p.a.Model, "effort": &p.a.Effort}
	switch field := into[k]; {
	case field != nil && (v.Kind != yaml.ScalarNode || v.Tag != "!!str"):
		p.appendError(v.Line+1, "%s: want a text", k)
	case field != nil && strings.TrimSpace(v.Value) == "":
		p.appendError(v.Line+1, "%s is empty", k)
	case field != nil:
		*field = v.Value
	case k == "tools":
		p.parseTools(v)
	}
}

// parseTools reads a list of names, or a text of names between commas.
func (p *parser) parseTools(v *yaml.Node) {
	switch {
	case v.Kind == yaml.ScalarNode && v.Tag == "!!str":
		for w := range strings.SplitSeq(v.Value, ",") {
			p.addTool(v.Line+1, strings.TrimSpace(w))
		}
	case v.Kind == yaml.SequenceNode:
		for _, n := range v.Content {
			if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
				p.appendError(n.Line+1, "tools: want the names of tools")
				continue
			}
			p.addTool(n.Line+1, n.Value)
		}
	default:
		p.appendError(v.Line+1, "tools: want a list, or names between commas")
	}
}

func (p *parser) addTool(line int, name string) {
	if name == "" {
		p.appendError(line, "tools: a name is empty")
		return
	}
	p.a.Tools = append(p.a.Tools, name)
}

// sandboxes are the sandbox modes of a Codex definition.
var sandboxes = []string{"read-only", "workspace-write", "danger-full-access"}

// parseTOML reads a Codex definition. It ignores other keys, which are settings of
// the runtime.
func (p *parser) parseTOML(text []byte) {
	var whole map[string]any
	if err := toml.Unmarshal(text, &whole); err != nil {
		line := 0
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			line, _ = at.Position()
		}
		p.appendError(line, "%s", strings.TrimPrefix(err.Error(), "toml: "))
		return
	}
	lines := keyLines(text)
	for k, field := range map[string]*string{
		"name": &p.a.Name, "description": &p.a.Description, "developer_instructions": &p.a.Instructions,
		"model": &p.a.Model, "model_reasoning_effort": &p.a.Effort, "sandbox_mode": &p.a.Sandbox,
	} {
		v, ok := whole[k]
		s, text := v.(string)
		switch {
		case !ok && slices.Contains([]string{"name", "description", "developer_instructions"}, k):
			p.appendError(1, "the key %s is missing", k)
		case !ok:
		case !text:
			p.appendError(lines[k], "%s: want a text", k)
		case strings.TrimSpace(s) == "":
			p.appendError(lines[k], "%s is empty", k)
		case k == "sandbox_mode" && !slices.Contains(sandboxes, s):
			p.appendError(lines[k], "%s: want one of %s, got %q", k, strings.Join(sandboxes, ", "), s)
		default:
			*field = strings.TrimSpace(s)
		}
	}
	const nicknames = "nickname_candidates"
	if v, ok := whole[nicknames]; ok {
		list, _ := v.([]any)
		for _, n := range list {
			s, _ := n.(string)
			if strings.TrimSpace(s) == "" {
				p.appendError(lines[nicknames], "%s: want names", nicknames)
				break
			}
			p.a.Nicknames = append(p.a.Nicknames, s)
		}
		if len(list) == 0 {
			p.appendError(lines[nicknames], "%s: want a list of names", nicknames)
		}
	}
	slices.SortStableFunc(p.errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Error(), b.Error()))
	})
}

// keyLines returns the lines of the top-level keys of a valid TOML document.
func keyLines(text []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue {
			break // a table begins
		}
		if k := e.Key(); k.Next() {
			lines[string(k.Node().Data)] = p.Shape(k.Node().Raw).Start.Line
		}
	}
	return lines
}

// quoteLine quotes a line for an error message, cut to a length.
func quoteLine(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return strconv.Quote(s)
}
