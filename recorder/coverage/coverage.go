// Package coverage answers one question: what of a runtime's wire has the corpus
// shown, and what never?
//
// What there is to show is the runtime's own word: the schema that is stored
// beside the cases of each version.
package coverage

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/census"
	"github.com/turnspec/turnspec/recorder/schema"
)

// Report is the coverage of one version.
type Report struct {
	Runtime string `json:"runtime"`
	Version string `json:"version"`
	Cases   int    `json:"cases"`
	Parts   []Part `json:"parts"`
	// Undeclared is what the wire has shown and the schema does not have: the
	// messages, and the members as Type.member. How often each was seen.
	Undeclared map[string]int `json:"undeclared"`
}

// Part counts one sort of name.
type Part struct {
	Name  string   `json:"name"` // one of the Parts
	Seen  int      `json:"seen"`
	All   int      `json:"all"`
	Never []string `json:"never"`
}

// Parts of a report.
const (
	Messages = "messages" // what the runtime sends, by method or type
	Requests = "requests" // what a client may ask, by method or subtype
	Items    = "items"    // types of items, of content and of their deltas
	Fields   = "fields"   // members of what the runtime sends
	Values   = "values"   // words of closed lists in what the runtime sends
)

// Versions are the versions of a runtime that have a schema, newest first.
func Versions(c fixtures.Corpus, runtime string) []string {
	versions, err := c.Versions(runtime)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(versions, func(version string) bool {
		_, err := c.Schema(runtime, version)
		return err != nil
	})
}

// Of reads the cases of a version against its schema.
func Of(c fixtures.Corpus, runtime, version string) (*Report, error) {
	text, err := c.Schema(runtime, version)
	if err != nil {
		return nil, err
	}
	s, err := schema.Parse(path.Join(c.Root, runtime, version, "schema.txt"), text)
	if err != nil {
		return nil, err
	}
	cases, err := c.CasesOf(runtime, version)
	if err != nil {
		return nil, err
	}
	rep := &Report{Runtime: runtime, Version: version, Cases: len(cases)}
	seen := schema.NewSeen()
	for _, one := range cases {
		for _, m := range census.Messages(one) {
			walk(s, seen, runtime, m)
		}
	}
	rep.count(s, seen)
	return rep, nil
}

// walk marks a message by the name that the schema has for it.
func walk(s *schema.Schema, seen *schema.Seen, runtime string, m census.Message) {
	if runtime != "codex" {
		if !m.In {
			s.Walk(seen, schema.Message, "stdout", m.Value)
			seen.Messages[schema.Message+" "+plain(m.Kind)]++
		} else if subtype, ok := strings.CutPrefix(m.Kind, "control_request/"); ok {
			seen.Messages[schema.Request+" "+subtype]++
		}
		return
	}
	var l struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	if json.Unmarshal(m.Value, &l, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil || l.Method == "" {
		return
	}
	switch {
	case m.In && len(l.ID) > 0:
		seen.Messages[schema.Request+" "+l.Method]++
	case len(l.ID) > 0:
		s.Walk(seen, schema.ServerRequest, l.Method, l.Params)
	case !m.In:
		s.Walk(seen, schema.Notification, l.Method, l.Params)
	}
}

// plain is a kind without the type of what it holds.
func plain(kind string) string {
	name, rest, held := strings.Cut(kind, "(")
	if _, after, ok := strings.Cut(rest, ")"); held && ok {
		name += after
	}
	if parts := strings.Split(name, "/"); parts[0] == "stream_event" && len(parts) > 2 {
		return parts[0] + "/" + parts[1]
	}
	if strings.HasPrefix(name, "answer to ") || strings.HasPrefix(name, "error to ") {
		return "control_response"
	}
	return name
}

// count compares what was seen with all there is.
func (rep *Report) count(s *schema.Schema, seen *schema.Seen) {
	lines := s.Lines()
	u := s.Universe(func(typ string) bool { return slices.Contains(lines.ClientTypes, typ) })
	var messages, requests []string
	for _, m := range slices.Concat(u.Messages, lines.Names) {
		if strings.HasPrefix(m, schema.Request+" ") {
			requests = append(requests, m)
		} else {
			messages = append(messages, m)
		}
	}
	rep.Undeclared = map[string]int{}
	for m, n := range seen.Messages {
		if !slices.Contains(messages, m) && !slices.Contains(requests, m) && m != schema.Message+" stdout" {
			rep.Undeclared[m] = n
		}
	}
	maps.Copy(rep.Undeclared, seen.Unknown)
	var items, values []string
	for _, v := range u.Values {
		if typ, _, _ := strings.Cut(v, "="); strings.HasSuffix(typ, ".type") {
			items = append(items, v)
		} else {
			values = append(values, v)
		}
	}
	rep.Parts = []Part{
		part(Messages, messages, seen.Messages), part(Requests, requests, seen.Messages),
		part(Items, items, seen.Values), part(Fields, u.Fields, seen.Fields), part(Values, values, seen.Values),
	}
}

func part(name string, all []string, seen map[string]int) Part {
	p := Part{Name: name, All: len(all), Never: []string{}}
	for _, one := range all {
		if seen[one] > 0 {
			p.Seen++
		} else {
			p.Never = append(p.Never, one)
		}
	}
	slices.SortFunc(p.Never, cmp.Compare[string])
	return p
}

// Part returns the part of that name.
func (rep *Report) Part(name string) (Part, error) {
	i := slices.IndexFunc(rep.Parts, func(p Part) bool { return p.Name == name })
	if i < 0 {
		return Part{}, fmt.Errorf("no part %q, want one of %s", name, strings.Join(PartNames(), ", "))
	}
	return rep.Parts[i], nil
}
