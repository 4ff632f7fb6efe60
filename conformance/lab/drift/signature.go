package drift

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pmezard/go-difflib/difflib"

	"github.com/turnspec/turnspec/recorder/census"
)

// difference is a way in which events of scenarios differ. The same difference in
// several scenarios is one change.
type difference struct {
	sort Sort
	what string
	how  string
}

// differences returns the differences of two lists of events, each once.
func differences(a, b string) []difference {
	before, after := splitLines(a), splitLines(b)
	var out []difference
	note := func(d difference) {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	for _, op := range difflib.NewMatcher(before, after).GetOpCodes() {
		if op.Tag == 'e' {
			continue
		}
		old, now := decodeLines(before[op.I1:op.I2]), decodeLines(after[op.J1:op.J2])
		for _, e := range now {
			// the event of the same type that it replaces, or none
			i := slices.IndexFunc(old, func(o map[string]any) bool { return eventLabel(o) == eventLabel(e) })
			if i < 0 {
				note(difference{Added, "event " + eventLabel(e), ""})
				continue
			}
			for _, d := range memberDifferences(eventLabel(e), old[i], e) {
				note(d)
			}
			old = slices.Delete(old, i, i+1)
		}
		for _, o := range old {
			note(difference{Gone, "event " + eventLabel(o), ""})
		}
	}
	return out
}

func splitLines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

func decodeLines(lines []string) []map[string]any {
	var out []map[string]any
	for _, l := range lines {
		var m map[string]any
		if json.Unmarshal([]byte(l), &m) == nil {
			out = append(out, m)
		}
	}
	return out
}

// eventLabel returns the type of an event, with the member that distinguishes its
// kinds.
func eventLabel(e map[string]any) string {
	name := fmt.Sprint(e["type"])
	data, _ := e["data"].(map[string]any)
	for _, k := range []string{"code", "status", "cause", "via", "phase", "reason"} {
		if v, ok := data[k].(string); ok {
			return name + "(" + v + ")"
		}
	}
	return name
}

// memberDifferences returns the members in which two events differ.
func memberDifferences(name string, a, b map[string]any) []difference {
	x, y := map[string]any{}, map[string]any{}
	flatten("", a, x)
	flatten("", b, y)
	var out []difference
	for _, path := range sortedKeys(x, y) {
		u, inA := x[path]
		v, inB := y[path]
		what := "member " + strings.TrimPrefix(path, "data.") + " of " + name
		switch {
		case !inA:
			out = append(out, difference{Added, what, ""})
		case !inB:
			out = append(out, difference{Gone, what, ""})
		case u != v && (!isNumberedID(u) || !isNumberedID(v)): // an id more or less changes all numbers after it
			out = append(out, difference{Changed, what, valueForm(u) + " → " + valueForm(v)})
		}
	}
	return out
}

// isNumberedID reports whether nameID made a value.
func isNumberedID(v any) bool {
	s, ok := v.(string)
	return ok && numberedID.MatchString(s)
}

var numberedID = regexp.MustCompile(`^id \d+$`)

func flatten(path string, v any, into map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for k, one := range v {
			flatten(strings.TrimPrefix(path+"."+k, "."), one, into)
		}
	case []any:
		for _, one := range v {
			flatten(path+"[]", one, into)
		}
	default:
		into[path] = v
	}
}

// valueForm returns a short value as it is, or else its form.
func valueForm(v any) string {
	s, ok := v.(string)
	if !ok {
		return fmt.Sprint(v)
	}
	if f := census.Form(s); f != "word" {
		return f
	}
	return s
}
