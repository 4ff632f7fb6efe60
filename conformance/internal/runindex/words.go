package runindex

import (
	"fmt"
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
	var v any
	if !Decode(raw, &v) {
		return false
	}
	return holdsValue(v, text)
}

func holdsValue(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text) || strings.Contains(unquoted(v), unquoted(text))
	case []any:
		for _, x := range v {
			if holdsValue(x, text) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if holdsValue(x, text) {
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
