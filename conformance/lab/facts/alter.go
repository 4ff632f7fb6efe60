package facts

import (
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Alteration is a way to alter a fact.
type Alteration string

// The alterations. Twice and absent apply to events, the others to fields.
const (
	Absent Alteration = "absent" // the event, or the value of the field, is left out
	Twice  Alteration = "twice"  // the event is emitted twice
	Wrong  Alteration = "wrong"  // the field has another value
	Cut    Alteration = "cut"    // a text ends in the middle, a list lacks its last element
)

// renumber counts seq in each session.
func renumber(events []conformance.Event) []conformance.Event {
	last := map[string]int64{}
	for i, e := range events {
		last[e.SessionID]++
		events[i].Seq = last[e.SessionID]
	}
	return events
}

// clone returns an addressable deep copy of a value.
func clone(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(clone(v.Field(i)))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(clone(v.Index(i)))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(clone(v.Elem()))
		}
	}
	return out
}

// alterValue alters a value, and returns false if it has no such alteration. A bool
// that is false can be wrong, but not absent.
func alterValue(v reflect.Value, how Alteration, values []string) bool {
	present := !v.IsZero() || v.Kind() == reflect.Bool
	switch {
	case !present || how == Twice:
		return false
	case how == Absent:
		changes := !v.IsZero()
		v.SetZero()
		return changes
	case how == Cut && (v.Kind() == reflect.String || v.Kind() == reflect.Slice):
		return values == nil && cutValue(v)
	case how == Cut:
		return false
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float()*2 + 1)
	case reflect.String:
		v.SetString(otherValue(v.String(), values))
	case reflect.Pointer:
		if v.Elem().Kind() == reflect.Struct {
			return false // its members are facts
		}
		alterValue(pointedTo(v), how, values)
	case reflect.Slice:
		if _, ok := reflect.TypeAssert[event.Raw](v); ok {
			v.Set(reflect.ValueOf(event.Raw(`{"altered":true}`)))
			return true
		}
		if v.Type().Elem().Kind() != reflect.String {
			return false // the members of its elements are facts
		}
		for i := range v.Len() {
			v.Index(i).SetString(otherValue(v.Index(i).String(), values))
		}
		return v.Len() > 0
	default:
		return false
	}
	return true
}

// pointedTo returns the value of a pointer; a number that is 0 has a value too.
func pointedTo(v reflect.Value) reflect.Value {
	if e := v.Elem(); e.IsZero() && e.CanInt() {
		e.SetInt(6)
	}
	return v.Elem()
}

func cutValue(v reflect.Value) bool {
	if v.Len() == 0 || v.Kind() == reflect.String && v.Len() < 2 {
		return false
	}
	if _, ok := reflect.TypeAssert[event.Raw](v); ok {
		return false
	}
	if v.Kind() == reflect.Slice {
		v.SetLen(v.Len() - 1)
		return true
	}
	v.SetString(strings.ToValidUTF8(v.String()[:v.Len()/2], ""))
	return true
}

// otherValue returns another text, or another value of a closed list.
func otherValue(s string, values []string) string {
	if values != nil {
		return values[(slices.Index(values, s)+1)%len(values)]
	}
	return alteredText(s, Wrong)
}

func alteredText(s string, how Alteration) string {
	if how == Absent {
		return ""
	}
	return "altered " + s
}
