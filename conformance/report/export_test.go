package report

import (
	"reflect"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// Members returns the member names of each object of the JSON form, by its name in
// the schema.
func Members() map[string][]string {
	out := map[string][]string{}
	for name, v := range map[string]any{
		"document": Document{}, "selection": Selection{}, "rule": Rule{}, "entry": Entry{}, "problem": Problem{}, "fault": Fault{}, "known": Known{},
		"known_use": KnownUse{}, "play": Play{}, "step": Step{}, "wire": Wire{}, "event": Event{}, "bubble": conformance.Bubble{}, "case_time": CaseTime{}, "wait": Wait{}, "shard": conformance.Shard{},
	} {
		out[name] = membersOf(reflect.TypeOf(v))
	}
	return out
}

func membersOf(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		if !f.IsExported() {
			continue // it is in no report
		}
		if f.Anonymous {
			out = append(out, membersOf(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// ClipLine shortens a line.
func ClipLine(s string, n int) string { return clipLine(s, n) }

// WrapCounts breaks the counts of a summary.
func WrapCounts(summary string) string { return wrapCounts(summary) }
