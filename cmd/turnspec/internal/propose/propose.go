package propose

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

//go:embed shapes/*.json
var shapes embed.FS

// Proposal is a mapping, and what it does not read.
type Proposal struct {
	Mapping  *mapping.Mapping `json:"mapping"`
	Messages int              `json:"messages"`
	Unplaced []Unplaced       `json:"unplaced,omitempty"`
	Skipped  []string         `json:"skipped,omitempty"` // lines of the sample that are no messages
	Missing  []event.Type     `json:"missing,omitempty"` // events that each turn needs, and that no rule emits
}

// Unplaced is a kind of messages for which there is no rule.
type Unplaced struct {
	Kind    Kind   `json:"kind"`
	Count   int    `json:"count"`
	Example string `json:"example"`
	Write   string `json:"write"` // the beginning of a rule
}

// From proposes the mapping of the vocabulary of a sample.
func From(name string, sample []byte) (*Proposal, error) {
	all, skipped := parseSample(sample)
	if len(all) == 0 {
		return nil, errors.New("the sample has no message: give the lines that your adapter writes in one turn, one JSON object a line")
	}
	p := &Proposal{Mapping: &mapping.Mapping{Name: name}, Messages: len(all), Skipped: skipped}
	groups := groupSample(all)
	rest := groups
	if shape, builtin, unread := knownShape(all, groups); shape != nil {
		if builtin {
			p.Mapping.Extends = shape.Name
		} else {
			p.Mapping.Rules, p.Mapping.Ignore = shape.Rules, shape.Ignore
		}
		p.Mapping.Notes = append(p.Mapping.Notes, fmt.Sprintf("the messages are those of %s: it reads %d of %d types of the sample", shape.Name, len(groups)-len(unread), len(groups)))
		rest = unread
	}
	r := &ruler{all: all, groups: rest, known: len(p.Mapping.Notes) > 0}
	rules := r.rules()
	p.Mapping.Rules = append(rules, p.Mapping.Rules...) // a mapping's own rules come first
	for _, g := range r.unplaced {
		p.Unplaced = append(p.Unplaced, describe(g))
		p.Mapping.Notes = append(p.Mapping.Notes, "no rule reads "+g.kind.String()+", such as "+clip(string(g.messages[0].line)))
	}
	types, err := p.emitted()
	for _, t := range []event.Type{event.TypeDelta, event.TypeDone} {
		if !slices.Contains(types, t) {
			p.Missing = append(p.Missing, t)
		}
	}
	return p, err
}

// emitted returns the types of the events that the proposal emits.
func (p *Proposal) emitted() ([]event.Type, error) {
	types := p.Mapping.Types()
	if p.Mapping.Extends != "" {
		base, err := mapping.Builtin(p.Mapping.Extends)
		if err != nil {
			return nil, err
		}
		types = append(types, base.Types()...)
	}
	return types, nil
}

// describe returns how to place a kind.
func describe(g *group) Unplaced {
	condition := fmt.Sprintf(`"has": ["%s"]`, firstMember(g.messages[0]))
	if len(g.kind) > 0 {
		b, err := json.Marshal(g.kind.when(), json.Deterministic(true))
		if err != nil {
			panic(err) // they are texts
		}
		condition = `"when": ` + string(b)
	}
	return Unplaced{g.kind, len(g.messages), clip(string(g.messages[0].line)),
		`{` + condition + `, "emit": "…", "data": {"…": "` + cmp.Or(g.find(texts, isText), firstMember(g.messages[0])) + `"}}, or {` + condition + `} to ignore it`}
}

// Unread returns the kinds of messages that no rule reads, and how to place them.
func Unread(lines [][]byte) (out []Unplaced) {
	var all []*message
	for _, line := range lines {
		if m := parseMessage(line); m != nil {
			all = append(all, m)
		}
	}
	for _, g := range groupBy(all, (*message).kind) {
		out = append(out, describe(g))
	}
	return out
}

// firstMember returns the path of a member that names no type.
func firstMember(m *message) string {
	var out []string
	for p, v := range m.paths {
		if v.Kind() != '{' && !slices.Contains(typeMembers, lastName(p)) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return "member"
	}
	return slices.Min(out)
}

// knownShape returns the known vocabulary that reads most kinds of the sample and its texts, whether it
// is a built-in one, and the groups that it does not read; nil if none reads half of them.
func knownShape(all []*message, groups []*group) (best *mapping.Mapping, builtin bool, unread []*group) {
	try := func(m *mapping.Mapping, isBuiltin bool) {
		left, texts := unreadBy(m, all, groups)
		if texts && len(left)*2 < len(groups) && (best == nil || len(left) < len(unread)) {
			best, builtin, unread = m, isBuiltin, left
		}
	}
	for _, name := range mapping.Names() {
		m, err := mapping.Builtin(name)
		if err != nil {
			panic(err) // it is embedded
		}
		if m.Post == nil {
			try(m, true)
		}
	}
	files, err := shapes.ReadDir("shapes")
	if err != nil {
		panic(err) // they are embedded
	}
	for _, f := range files {
		b, err := shapes.ReadFile(path.Join("shapes", f.Name()))
		if err != nil {
			panic(err) // it is embedded
		}
		m, err := mapping.Parse(f.Name(), b)
		if err != nil {
			panic(err) // a test parses it
		}
		try(m, false)
	}
	return best, builtin, unread
}

// required are the members without which an event says nothing.
var required = map[event.Type][]string{
	event.TypeDelta: {"text"}, event.TypeToolStart: {"tool_use_id", "tool"}, event.TypeToolResult: {"tool_use_id"},
	event.TypePermissionRequest: {"request_id", "tool_name"},
}

// unreadBy returns the groups that have a message which the mapping does not read, and whether it
// reads texts. A mapping that misses members of an event is of another vocabulary: it reads nothing.
func unreadBy(m *mapping.Mapping, all []*message, groups []*group) (unread []*group, texts bool) {
	r := m.NewReader()
	bad := map[*message]bool{}
	for _, message := range all {
		events, err := r.Read(message.line)
		bad[message] = err != nil
		for _, e := range events {
			for _, name := range required[e.Type] {
				if e.Data[name] == nil {
					return groups, false
				}
			}
			var text string
			if e.Type == event.TypeDelta && json.Unmarshal(e.Data["text"], &text) == nil && strings.TrimSpace(text) != "" {
				texts = true
			}
		}
	}
	for _, g := range groups {
		if slices.ContainsFunc(g.messages, func(m *message) bool { return bad[m] }) {
			unread = append(unread, g)
		}
	}
	return unread, texts
}

// Write returns the file of the mapping.
func (p *Proposal) Write() ([]byte, error) {
	b, err := json.Marshal(p.Mapping, json.Deterministic(true), jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	if err != nil {
		return nil, err
	}
	return layOut(b)
}

// layOut writes each member of the mapping, and each element of a list in it, on a line.
func layOut(object jsontext.Value) ([]byte, error) {
	d := jsontext.NewDecoder(strings.NewReader(string(object)))
	var out strings.Builder
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	separator := "{\n"
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		out.WriteString(separator + "  " + string(name) + ": ")
		separator = ",\n"
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		var list []jsontext.Value
		if v.Kind() != '[' || json.Unmarshal(v, &list) != nil {
			out.Write(v)
			continue
		}
		for i, element := range list {
			list[i] = jsontext.Value("    " + string(element))
		}
		lines := make([]string, len(list))
		for i, element := range list {
			lines[i] = string(element)
		}
		out.WriteString("[\n" + strings.Join(lines, ",\n") + "\n  ]")
	}
	return []byte(out.String() + "\n}\n"), nil
}
