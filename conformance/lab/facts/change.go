package facts

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Change is how the sweep makes a fact untrue. It changes every second place in which
// the fact occurs and can be changed, and thus the only one too: an adapter with a
// defect is often right.
type Change string

// The changes.
const (
	LeftOut   Change = "left out"             // the event, or the value of the field, is missing
	Never     Change = "never given"          // it is missing everywhere
	Other     Change = "another value"        // the field has a value that it has elsewhere in the corpus
	Previous  Change = "the previous value"   // the field has the value of the event before
	Repeated  Change = "twice"                // the event is emitted twice; not if its type may be
	Misplaced Change = "given to a neighbour" // two events have each other's value, or the event is of another turn
)

// Changes lists all changes.
func Changes() []Change { return []Change{LeftOut, Never, Other, Previous, Repeated, Misplaced} }

// Values are the values that the fields of events have in some runs, by fact.
type Values map[string][]reflect.Value

// maxValues is how many values of a fact are kept.
const maxValues = 40

// Add adds the values of a run's events.
func (v Values) Add(r *conformance.Run, all []Fact) {
	for _, f := range all {
		if f.inType == "" || f.parts {
			continue
		}
		found, _ := places(slices.Clone(r.Events), f)
		for _, p := range found {
			if len(v[f.Name]) >= maxValues {
				break
			}
			if !slices.ContainsFunc(v[f.Name], func(x reflect.Value) bool { return same(x, p.leaf) }) {
				v[f.Name] = append(v[f.Name], clone(p.leaf))
			}
		}
	}
}

// place is where a fact occurs: an event, or a value in it.
type place struct {
	event int
	leaf  reflect.Value // addressable, in a copy of the event's data; of a field alone
}

// places returns where a fact occurs in events. The values are in copies, which store puts
// into the events. Values that are not set are no places, but flags always are.
func places(events []conformance.Event, f Fact) (out []place, store func()) {
	copies := map[int]reflect.Value{} // by event
	path := strings.Split(f.Name, ".")
	for i := range events {
		switch {
		case f.inType == "":
			if leaf := envelopeField(&events[i].Event, f.Name); leaf.IsValid() && !leaf.IsZero() {
				out = append(out, place{i, leaf})
			}
		case events[i].Type() != f.inType || isActivity(events[i].Data):
		case len(path) == 1:
			out = append(out, place{event: i})
		default:
			data := clone(reflect.ValueOf(events[i].Data))
			var leaves []reflect.Value
			visit(data, path[1:], func(v reflect.Value) { leaves = append(leaves, v) })
			if len(leaves) == 0 {
				continue
			}
			for _, leaf := range leaves {
				out = append(out, place{i, leaf})
			}
			copies[i] = data
		}
	}
	return out, func() {
		for i, data := range copies {
			events[i].Data, _ = reflect.TypeAssert[event.Data](data)
		}
	}
}

func envelopeField(e *event.Event, name string) reflect.Value {
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// visit calls found with each value at a path that is set, or is a flag.
func visit(v reflect.Value, path []string, found func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), path, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), path, found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			switch {
			case name == "" && v.Type().Field(i).Anonymous:
				visit(field, path, found)
			case name != path[0]:
			case len(path) > 1:
				visit(field, path[1:], found)
			case !unset(field) || field.Kind() == reflect.Bool:
				found(field)
			}
		}
	}
}

// unset reports whether a field states nothing: it is missing, or null.
func unset(field reflect.Value) bool {
	raw, ok := reflect.TypeAssert[event.Raw](field)
	return field.IsZero() || ok && string(raw) == "null"
}

func same(a, b reflect.Value) bool { return reflect.DeepEqual(a.Interface(), b.Interface()) }

// Changed returns the run with a fact changed, or nil if the change is not possible.
func Changed(r *conformance.Run, f Fact, how Change, values Values, seed uint64) *conformance.Run {
	events := slices.Clone(r.Events)
	if f.inType != "" && f.Name == string(f.inType) {
		events = changeEvents(events, f, how)
	} else {
		events = changeValues(events, f, how, values, seed)
	}
	if events == nil {
		return nil
	}
	out := r.WithEvents(events)
	out.Transcribe = nil // an adapter with a defect has it there too
	return out
}

// repeatable are the types of which a second, equal event states nothing new.
var repeatable = []event.Type{event.TypeQueue, event.TypeComponentRemove, event.TypeUsage}

// isActivity reports whether an event only shows that the agent is at work: turn.activity-first,
// which asks for it, is no MUST check.
func isActivity(d event.Data) bool {
	t, is := d.(event.Thinking)
	return is && t.Text == "" && !t.Done
}

// changeEvents changes whole events.
func changeEvents(events []conformance.Event, f Fact, how Change) []conformance.Event {
	if how == Repeated && slices.Contains(repeatable, f.inType) {
		return nil
	}
	last := 0
	for _, e := range events {
		last = max(last, e.Turn)
	}
	out, n, changed := make([]conformance.Event, 0, len(events)+1), 0, false
	for _, e := range events {
		if e.Type() != f.inType || isActivity(e.Data) {
			out = append(out, e)
			continue
		}
		n++
		if n%2 == 0 && how != Never {
			out = append(out, e)
			continue
		}
		switch {
		case how == LeftOut || how == Never:
			changed = true
			continue
		case how == Repeated:
			changed = true
			out = append(out, e)
		case how == Misplaced && e.Turn > 1:
			changed = true
			e.Turn--
		case how == Misplaced && e.Turn > 0 && e.Turn < last:
			changed = true
			e.Turn++
		}
		out = append(out, e)
	}
	if !changed {
		return nil
	}
	return renumber(out)
}

// changeValues changes values of a field.
func changeValues(events []conformance.Event, f Fact, how Change, values Values, seed uint64) []conformance.Event {
	all, store := places(events, f)
	before := make([]reflect.Value, len(all)) // what they were
	for i, p := range all {
		before[i] = clone(p.leaf)
	}
	n, changed := 0, false
	set := func(i int, v reflect.Value) {
		if n++; n%2 == 1 || how == Never {
			all[i].leaf.Set(v)
			changed = true
		}
	}
	random := rand.New(rand.NewPCG(seed, uint64(len(all)))) // the same choice each time
	for i, p := range all {
		switch {
		case how == LeftOut || how == Never:
			if !p.leaf.IsZero() {
				set(i, reflect.Zero(p.leaf.Type()))
			}
		case how == Previous:
			if i > 0 && !same(before[i-1], before[i]) {
				set(i, before[i-1])
			}
		case how == Misplaced:
			if i+1 < len(all) && !same(before[i+1], before[i]) {
				if n%2 == 0 {
					all[i+1].leaf.Set(before[i])
				}
				set(i, before[i+1])
			}
		case how == Other && f.parts:
			if p.leaf.Kind() == reflect.Slice && p.leaf.Len() > 0 {
				set(i, p.leaf.Slice(0, p.leaf.Len()-1))
			}
		case how == Other:
			if v := another(before[i], f, values, random); v.IsValid() {
				set(i, v)
			}
		}
	}
	if !changed {
		return nil
	}
	store()
	return events
}

// another returns a value of the fact that differs: one that it has elsewhere, or an
// altered one.
func another(is reflect.Value, f Fact, values Values, random *rand.Rand) reflect.Value {
	known := slices.DeleteFunc(slices.Clone(values[f.Name]), func(v reflect.Value) bool { return same(v, is) || v.IsZero() && is.Kind() != reflect.Bool })
	if len(known) > 0 {
		return known[random.IntN(len(known))]
	}
	out := reflect.New(is.Type()).Elem()
	out.Set(clone(is))
	if f.Name == "ts" || !alterValue(out, Wrong, f.values) {
		return reflect.Value{}
	}
	return out
}
