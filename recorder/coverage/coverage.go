// Package coverage reports which scenarios a version of a runtime performs in the corpus,
// and which parts of its wire the corpus holds. It is not part of the stable interface.
// The whole of the wire is the schema of the runtime, which is stored with the cases of
// the version if its vendor publishes one.
package coverage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/fixtures/wire"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/census"
)

// Report is the coverage of one version.
type Report struct {
	Runtime string `json:"runtime"`
	Version string `json:"version"`
	Cases   int    `json:"cases"`
	// Scenarios has each scenario of the corpus under the state that it has on this version.
	Scenarios map[State][]Scenario `json:"scenarios"`
	Parts     []Part               `json:"parts,omitempty"` // nil without a schema
	// Undeclared counts what the cases hold but the schema does not: messages,
	// and members as Type.member.
	Undeclared map[string]int `json:"undeclared,omitempty"`
}

// State is whether a version performs a scenario.
type State string

// The states.
const (
	Performed   State = "performed"    // the corpus has a case
	Cannot      State = "cannot"       // for a reason
	NotRecorded State = "not-recorded" // it may be able to, but the corpus has no case
)

// Scenario is a scenario in a report.
type Scenario struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"` // why the version cannot perform it
}

// Part counts one sort of names.
type Part struct {
	Name  string   `json:"name"` // one of PartNames
	Seen  int      `json:"seen"`
	All   int      `json:"all"`
	Never []string `json:"never"`
}

// Parts of a report.
const (
	Messages = "messages" // what the runtime sends, by method or type
	Requests = "requests" // what a client may request, by method or subtype
	Items    = "items"    // types of items, of content and of their deltas
	Fields   = "fields"   // members of what the runtime sends
	Values   = "values"   // words of closed lists in what the runtime sends
)

// Of returns the coverage of a version.
func Of(c fixtures.Corpus, runtime, version string) (*Report, error) {
	rep := &Report{Runtime: runtime, Version: version}
	if err := rep.sortScenarios(c); err != nil {
		return nil, err
	}
	text, err := c.Schema(runtime, version)
	if errors.Is(err, fs.ErrNotExist) {
		return rep, nil
	}
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
	var tags *wire.Tags
	if rt := wires.Find(runtime); rt != nil {
		tags = rt.Tags
	}
	seen := schema.NewSeen()
	for _, c := range cases {
		lines := c.Lines()
		for _, m := range census.Messages(c) {
			markMessage(s, seen, tags, m, lines[m.Line])
		}
	}
	rep.countParts(s, seen, tags)
	return rep, nil
}

// sortScenarios sets the state of each scenario of the corpus.
func (rep *Report) sortScenarios(c fixtures.Corpus) error {
	scenarios, err := c.Scenarios()
	if err != nil {
		return err
	}
	performances, err := c.Performances(scenarios, rep.Runtime, rep.Version)
	if err != nil {
		return err
	}
	rep.Scenarios = map[State][]Scenario{}
	for _, p := range performances {
		state := NotRecorded
		switch {
		case p.Recorded:
			state = Performed
		case p.Reason != "":
			state = Cannot
		}
		rep.Scenarios[state] = append(rep.Scenarios[state], Scenario{p.Scenario.ID, p.Reason})
	}
	rep.Cases = len(rep.Scenarios[Performed])
	return nil
}

// markMessage marks a message by the name that it has in the schema.
func markMessage(s *schema.Schema, seen *schema.Seen, tags *wire.Tags, m census.Message, l wire.Line) {
	request := len(l.ID) > 0 && l.Name != ""
	switch {
	case m.In && request:
		seen.Messages[schema.Request+" "+l.Method]++
	case m.In || tags == nil && l.Method == "":
	case tags != nil:
		s.Walk(seen, schema.Message, "stdout", m.Value)
		seen.Messages[schema.Message+" "+bareKind(tags, m.Kind)]++
	case request:
		s.Walk(seen, schema.ServerRequest, l.Method, l.Params)
	default:
		s.Walk(seen, schema.Notification, l.Method, l.Params)
	}
}

// bareKind returns a kind without the type of its item or delta.
func bareKind(tags *wire.Tags, kind string) string {
	name, rest, typed := strings.Cut(kind, "(")
	if _, after, ok := strings.Cut(rest, ")"); typed && ok {
		name += after
	}
	if parts := strings.Split(name, "/"); tags.Inner[parts[0]] != [2]string{} && len(parts) > 2 {
		return parts[0] + "/" + parts[1]
	}
	if strings.HasPrefix(name, "answer to ") || strings.HasPrefix(name, "error to ") {
		return tags.Reply
	}
	return name
}

// countParts compares what was seen with the schema.
func (rep *Report) countParts(s *schema.Schema, seen *schema.Seen, tags *wire.Tags) {
	lines := s.Lines(tags)
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
	if !slices.ContainsFunc(s.Roots, ofTheRuntime) { // the schema is of what a client may write
		rep.Parts = []Part{
			newPart(Messages, nil, nil), newPart(Requests, requests, seen.Messages),
			newPart(Items, nil, nil), newPart(Fields, nil, nil), newPart(Values, nil, nil),
		}
		return
	}
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
		newPart(Messages, messages, seen.Messages), newPart(Requests, requests, seen.Messages),
		newPart(Items, items, seen.Values), newPart(Fields, u.Fields, seen.Fields), newPart(Values, values, seen.Values),
	}
}

// ofTheRuntime reports whether a message is one that the runtime sends.
func ofTheRuntime(r schema.Root) bool {
	return r.Kind == schema.Notification || r.Kind == schema.ServerRequest || r.Kind == schema.Message && r.Name == "stdout"
}

func newPart(name string, all []string, seen map[string]int) Part {
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
	if rep.Parts == nil {
		return Part{}, fmt.Errorf("the corpus has no schema of %s %s; `turnspec schema %s --write` stores it if the vendor publishes one", rep.Runtime, rep.Version, rep.Runtime)
	}
	if err := CheckPartName(name); err != nil {
		return Part{}, err
	}
	return rep.Parts[slices.IndexFunc(rep.Parts, func(p Part) bool { return p.Name == name })], nil
}
