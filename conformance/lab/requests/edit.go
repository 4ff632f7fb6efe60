package requests

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

// kindOf returns the JSON kind of a value; "" for a whole line.
func kindOf(v any, fact string) string {
	switch v.(type) {
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case map[string]any:
		return "object"
	case []any:
		return "list"
	}
	if facts.IsLine(fact) {
		return ""
	}
	return "null"
}

// overHTTP matches the name of a line that is a request over HTTP.
var overHTTP = regexp.MustCompile(`^[A-Z]+/`)

// ofRuntime leaves out the facts of lines that are no request over HTTP, if the runtime is asked over
// HTTP: they concern what carries the requests.
func ofRuntime(all []string) []string {
	if !slices.ContainsFunc(all, overHTTP.MatchString) {
		return all
	}
	return slices.DeleteFunc(all, func(fact string) bool {
		return !overHTTP.MatchString(fact) && !strings.HasPrefix(fact, "argv ") && !strings.HasPrefix(fact, "env ")
	})
}

// edits returns the changes that are possible. A line that is left out is no request. given: the value
// is an id that the runtime gave.
func edits(fact, was string, given bool) []refusal.Edit {
	line, member, _ := strings.Cut(fact, " ")
	if overHTTP.MatchString(line) {
		switch {
		case member == "", member == "id": // the id is the line's, which no second one may have: the request has none
			return nil
		case member == "method", member == refusal.PathMember: // without one it is no request
			return []refusal.Edit{refusal.EditOther}
		case strings.HasPrefix(member, refusal.PathMember+"."):
			out := []refusal.Edit{refusal.EditEmpty, refusal.EditOther}
			if given {
				out = append(out, refusal.EditUnknown)
			}
			return out
		}
	}
	switch {
	case facts.IsLine(fact):
		return []refusal.Edit{refusal.EditTwice}
	case strings.HasPrefix(fact, "argv "), strings.HasPrefix(fact, "env "):
		return []refusal.Edit{refusal.EditLeftOut, refusal.EditEmpty, refusal.EditOther}
	}
	out := []refusal.Edit{refusal.EditLeftOut, refusal.EditNull, refusal.EditType}
	switch was {
	case "string":
		out = append(out, refusal.EditEmpty, refusal.EditOther)
		if given {
			out = append(out, refusal.EditUnknown)
		}
		return out
	case "object", "list":
		return append(out, refusal.EditEmpty)
	case "number", "boolean":
		return append(out, refusal.EditOther)
	}
	return out
}

// unknown is what a value of EditOther ends in: no runtime knows it.
const unknown = "_unknown"

// change is what an editor has changed.
type change struct {
	made bool         // there was a place of the fact
	form refusal.Form // of the first text there, before the change
}

// editor returns an editor that makes the change in each place of the fact.
func (t try) editor() (e *facts.Editor, c *change) {
	c = &change{}
	return &facts.Editor{Each: func(fact string, v any) facts.Edit {
		if fact == t.without {
			return facts.Edit{Do: facts.Drop}
		}
		if fact != t.fact {
			return facts.Edit{}
		}
		edit := t.edit(v)
		if text, ok := v.(string); ok && !c.made {
			c.form = refusal.FormOf(text)
		}
		c.made = c.made || edit.Do != facts.Keep
		return edit
	}}, c
}

func (t try) edit(v any) facts.Edit {
	replace := func(with any) facts.Edit { return facts.Edit{Do: facts.Replace, With: with} }
	_, isText := v.(string)
	switch t.how {
	case refusal.EditLeftOut:
		return facts.Edit{Do: facts.Drop}
	case refusal.EditTwice:
		return facts.Edit{Do: facts.Repeat}
	case refusal.EditNull:
		if v != nil {
			return replace(nil)
		}
	case refusal.EditType:
		if isText {
			return replace(7)
		}
		return replace("7")
	case refusal.EditEmpty:
		switch v := v.(type) {
		case string:
			if v != "" {
				return replace("")
			}
		case map[string]any:
			if len(v) > 0 {
				return replace(map[string]any{})
			}
		case []any:
			if len(v) > 0 {
				return replace([]any{})
			}
		}
	case refusal.EditUnknown:
		if text, ok := v.(string); ok && isID.MatchString(text) {
			return replace(unknownID(text))
		}
	case refusal.EditOther:
		switch v := v.(type) {
		case string:
			if v != "" {
				return replace(v + unknown)
			}
		case float64:
			return replace(v + 1)
		case bool:
			return replace(!v)
		}
	}
	return facts.Edit{}
}

// isID matches an id that a runtime makes up.
var isID = regexp.MustCompile(`^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]+_[0-9A-Za-z]{8,})$`)

// unknownID returns another id of the same form.
func unknownID(id string) string {
	last := "0"
	if strings.HasSuffix(id, last) {
		last = "1"
	}
	return id[:len(id)-1] + last
}

// givenIDs returns a function that reports whether a text is an id that the runtime wrote before its
// client did.
func givenIDs(c *fixtures.Case) func(text string) bool {
	return func(text string) bool {
		if !isID.MatchString(text) {
			return false
		}
		for _, w := range c.Wire {
			if bytes.Contains(w.Bytes, []byte(text)) {
				return w.Dir == fixtures.Out
			}
		}
		return false
	}
}
