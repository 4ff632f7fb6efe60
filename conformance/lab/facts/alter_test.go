package facts

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Altered is a run in which one fact is altered in all events.
type Altered struct {
	*conformance.Run
	Fact Fact
	How  Alteration
}

// Falsified returns the runs that make a fact of the run false, in the ways in which
// it can be.
func Falsified(r *conformance.Run, f Fact) []Altered {
	var out []Altered
	for _, how := range f.falsifications() {
		if events := Alter(r.Events, f, how); events != nil {
			out = append(out, Altered{r.WithEvents(events), f, how})
		}
	}
	return out
}

// falsifications returns the alterations that make a fact false. To leave out a value
// does not, because many fields are optional; but a flag is false then, and the members
// of the envelope are required.
func (f *Fact) falsifications() []Alteration {
	if f.parts {
		return []Alteration{Absent, Twice, Cut}
	}
	if f.flag || f.inType == "" {
		return []Alteration{Wrong, Absent}
	}
	return []Alteration{Wrong, Cut}
}

// Alter returns a copy of events in which a fact is altered wherever it occurs, or nil
// if it occurs nowhere. Events are renumbered.
func Alter(events []conformance.Event, f Fact, how Alteration) []conformance.Event {
	path := strings.Split(f.Name, ".")
	if f.inType == "" {
		return alterEnvelope(events, f.Name, how)
	}
	out := make([]conformance.Event, 0, len(events))
	altered := false
	for _, e := range events {
		switch {
		case e.Type() != f.inType:
			out = append(out, e)
		case len(path) > 1:
			data := clone(reflect.ValueOf(e.Data))
			if alterPath(data, path[1:], how, f.values) {
				altered = true
				e.Data, _ = reflect.TypeAssert[event.Data](data)
			}
			out = append(out, e)
		case how == Absent:
			altered = true
		case how == Twice:
			altered = true
			out = append(out, e, e)
		default:
			out = append(out, e)
		}
	}
	if !altered {
		return nil
	}
	return renumber(out)
}

func alterEnvelope(events []conformance.Event, name string, how Alteration) []conformance.Event {
	if how != Wrong && how != Absent {
		return nil
	}
	out := slices.Clone(events)
	altered := false
	for i := range out {
		e := &out[i]
		switch {
		case name == "ts" && how == Wrong:
			e.TS = e.TS.Add(time.Second)
		case name == "ts":
			e.TS = time.Time{}
		case name == "seq":
			e.Seq++
		case name == "session_id":
			e.SessionID = alteredText(e.SessionID, how)
		case name == "turn" && e.Turn > 0 && how == Wrong:
			e.Turn++
		case name == "turn" && e.Turn > 0:
			e.Turn = 0
		case name == "subagent_id" && e.SubagentID != "":
			e.SubagentID = alteredText(e.SubagentID, how)
		default:
			continue
		}
		altered = true
	}
	if !altered {
		return nil
	}
	return out
}

// alterPath alters the field at a path, in each element if the path leads through
// a list. It returns false if there is nothing to alter.
func alterPath(v reflect.Value, path []string, how Alteration, values []string) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && alterPath(v.Elem(), path, how, values)
	case reflect.Slice:
		altered := false
		for i := range v.Len() {
			altered = alterPath(v.Index(i), path, how, values) || altered
		}
		return altered
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			switch {
			case name != path[0]:
			case len(path) == 1:
				return alterValue(v.Field(i), how, values)
			default:
				return alterPath(v.Field(i), path[1:], how, values)
			}
		}
	}
	return false
}
