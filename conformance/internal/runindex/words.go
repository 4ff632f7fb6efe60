package runindex

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
)

// ErrorText returns the text of an error, or "" if Error panics because the error
// is incomplete.
func ErrorText(err error) (words string) {
	defer func() { _ = recover() }()
	return err.Error()
}

// StepName returns a step as its scenario writes it, without the text of the user.
func StepName(a fixtures.Step) string {
	s := string(a.Verb)
	if a.What != "" {
		s += " " + a.What
	}
	if a.ID != "" {
		s += " " + a.ID
	}
	return s
}

// Canonical returns the canonical form of a JSON value, to be compared as text. No
// value counts as an empty object.
func Canonical(v jsontext.Value) string {
	if len(v) == 0 {
		return "{}"
	}
	v = v.Clone()
	if err := v.Canonicalize(); err != nil {
		return string(v)
	}
	return string(v)
}

// Decode decodes JSON that may hold invalid UTF-8 and duplicate names.
func Decode(b []byte, to any) bool {
	return json.Unmarshal(b, to, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) == nil
}

// Clip shortens a text for a problem.
func Clip(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}

// Holds reports whether a string somewhere in a JSON value contains a text. A
// runtime may pass a command to a shell, so the quoting of the shell is ignored.
func Holds(raw event.Raw, text string) bool {
	return AnyText(raw, func(_, s string) bool {
		return strings.Contains(s, text) || strings.Contains(unquoted(s), unquoted(text))
	})
}

// AnyText reports whether is is true of a string in a JSON value, with the name of the member that
// holds it, itself or in a list; "": none does.
func AnyText(raw event.Raw, is func(member, text string) bool) bool {
	var v any
	return Decode(raw, &v) && anyText(v, "", is)
}

func anyText(v any, member string, is func(member, text string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(member, v)
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return anyText(x, member, is) })
	case map[string]any:
		for name, x := range v {
			if anyText(x, name, is) {
				return true
			}
		}
	}
	return false
}

// unquoted removes the characters of a shell's quoting.
func unquoted(s string) string { return strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(s) }

// Describe names an event in a problem.
func Describe(d event.Data) string {
	switch d := d.(type) {
	case event.Done:
		return fmt.Sprintf("done (stopped: %v)", d.Stopped)
	case event.Error:
		return fmt.Sprintf("error %s: %s", d.Code, d.Message)
	}
	return string(d.EventType())
}
