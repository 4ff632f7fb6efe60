// Package facts lists what events state, and which checks judge each statement. It is not
// part of the stable interface.
//
// A fact is a type of event, such as plan, or a field of its JSON form, such as
// tool_result.exit_code. Checks name the facts that they judge (Check.Judges). The
// tests prove that: they make one fact wrong in the events of the reference, and apply
// the checks again.
//
// What an adapter gives to a runtime consists of facts too: see Editor.
package facts

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Fact is a type of event, or a field of the JSON form of events.
type Fact struct {
	Name     string   `json:"fact"`               // such as plan, or tool_result.exit_code
	Required bool     `json:"required,omitempty"` // an event cannot leave it out
	Checks   []string `json:"checks,omitempty"`   // the checks that judge it
	Unjudged string   `json:"unjudged,omitempty"` // why no check judges it

	inType event.Type // "" for a field of the envelope
	values []string   // the closed list of its values; nil: any
	flag   bool       // it is true or false
	parts  bool       // it consists of other facts: an event, or a field that holds objects
}

// All returns the facts in the order of the schema, with those of the checks that
// judge them.
func All(checks []*conformance.Check) []Fact {
	var out []Fact
	last := event.Type("")
	for _, f := range event.Fields() {
		if f.Type != last {
			last = f.Type
			out = append(out, Fact{Name: string(f.Type), inType: f.Type})
		}
		out = append(out, Fact{Name: f.Name, Required: f.Required, inType: f.Type, values: f.Values, flag: f.Flag})
	}
	for i := range out {
		f := &out[i]
		f.parts = f.Name == string(f.inType) || i+1 < len(out) && strings.HasPrefix(out[i+1].Name, f.Name+".")
		f.Unjudged = unjudged[f.Name]
		for _, c := range checks {
			if slices.Contains(c.Judges, f.Name) {
				f.Checks = append(f.Checks, c.ID)
			}
		}
	}
	return out
}
