package acp

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// form is a question of the agent that is answered field by field.
type form struct {
	Message string `json:"message"`
	Schema  struct {
		Properties map[string]field `json:"properties"`
	} `json:"requestedSchema"`
}

type field struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Items       struct {
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
	OneOf []choice `json:"oneOf"`
}

type choice struct {
	Const string `json:"const"`
}

// answerForm answers a form with what the user has filled in, or declines it. Scenarios name a
// question by its words; the form of one question has them in its message.
func (c *client) answerForm(q question, s fixtures.Step) error {
	switch s.What {
	case fixtures.AnswerDeny:
		return c.writeResult(q.id, `{"action":"decline"}`)
	case fixtures.AnswerValue:
	default:
		return c.Error("answers a form with " + s.What)
	}
	var given map[string]jsontext.Value
	if err := wire.Decode(s.Value, &given); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if given["action"] != nil {
		return c.writeResult(q.id, string(s.Value))
	}
	var f form
	if err := wire.Decode(q.params, &f); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	content := map[string]jsontext.Value{}
	for _, words := range slices.Sorted(maps.Keys(given)) {
		name, value := f.fieldFor(words), given[words]
		if name == "" {
			return fmt.Errorf("answer: no field of the form is %q", words)
		}
		// claude-agent-acp and codex-acp have a field for the user's own words.
		for _, other := range []string{name + "_custom", name + "_note"} {
			if value.Kind() == '"' && !f.offers(name, wire.Unquote(value)) && f.has(other) {
				name = other
				break
			}
		}
		content[name] = value
	}
	b, err := json.Marshal(map[string]any{"action": "accept", "content": content}, json.Deterministic(true))
	if err != nil {
		return err
	}
	return c.writeResult(q.id, string(b))
}

func (f *form) has(name string) bool { _, ok := f.Schema.Properties[name]; return ok }

// offers reports whether a value is one of the choices of a field.
func (f *form) offers(name, value string) bool {
	p := f.Schema.Properties[name]
	return slices.Contains(append(slices.Clone(p.OneOf), p.Items.AnyOf...), choice{value})
}

// fieldFor returns the name of the field that asks a question; "" if none does.
func (f *form) fieldFor(words string) string {
	for _, name := range slices.Sorted(maps.Keys(f.Schema.Properties)) {
		p := f.Schema.Properties[name]
		if p.Description == words || p.Title == words || name == words || f.Message == words && len(p.OneOf)+len(p.Items.AnyOf) > 0 {
			return name
		}
	}
	return ""
}
