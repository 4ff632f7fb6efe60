package acp

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// form is what the user is to fill in.
type form struct {
	Message lenient.Str `json:"message"`
	Schema  struct {
		Properties map[string]formField `json:"properties"`
	} `json:"requestedSchema"`
}

type formField struct {
	Title       lenient.Str `json:"title"`
	Description lenient.Str `json:"description"`
	Items       struct {
		AnyOf []formChoice `json:"anyOf"`
	} `json:"items"`
	OneOf []formChoice `json:"oneOf"`
}

type formChoice struct {
	Const lenient.Str `json:"const"`
}

func (f formField) choices() []formChoice { return slices.Concat(f.OneOf, f.Items.AnyOf) }

// content returns the content for an answer: its members are named as the fields, or by the
// questions that the fields ask. The form of one question has it in its message.
func (f *form) content(value jsontext.Value) jsontext.Value {
	given := lenient.Decode[map[string]jsontext.Value](value)
	if given == nil {
		return value
	}
	out := map[string]jsontext.Value{}
	for words, v := range given {
		out[f.fieldFor(words, v)] = v
	}
	return lenient.Encode(out)
}

// fieldFor returns the name of the field for the answer to a question. Some agents have a
// field beside it for words that are none of the choices.
func (f *form) fieldFor(words string, v jsontext.Value) string {
	for name, p := range f.Schema.Properties {
		if name != words && string(p.Description) != words && string(p.Title) != words && (string(f.Message) != words || len(p.choices()) == 0) {
			continue
		}
		for _, custom := range []string{name + "_custom", name + "_note"} {
			if _, ok := f.Schema.Properties[custom]; ok && v.Kind() == '"' && !slices.Contains(p.choices(), formChoice{lenient.Decode[lenient.Str](v)}) {
				return custom
			}
		}
		return name
	}
	return words
}

// answerForm answers a form with its content, or declines it. A value that names an action is
// the whole answer.
func (c *client) answerForm(q *question, an adapters.Answer) error {
	r := formResult{Action: "decline"}
	whole := lenient.Decode[formResult](an.Value)
	switch {
	case an.Decision == event.DecisionCancel:
		r.Action = "cancel"
	case an.Decision != event.DecisionDeny && whole.Action != "":
		if !slices.Contains([]string{"accept", "decline", "cancel"}, whole.Action) {
			return fmt.Errorf("answer: value: want an action accept, decline or cancel, got %q", whole.Action)
		}
		r = whole
	case an.Decision != event.DecisionDeny && len(an.Value) > 0:
		r = formResult{"accept", q.form.content(an.Value)}
	case an.Decision == event.DecisionAllow:
		r = formResult{"accept", jsontext.Value("{}")}
	}
	c.t.questions.Drop(q)
	c.answerRequest(q.rpc, r)
	decision := event.DecisionDeny
	if r.Action == "accept" {
		decision = event.DecisionAllow
	}
	value := an.Value
	if value == nil {
		value = event.Raw(`"` + string(decision) + `"`)
	}
	c.t.l.Resolve(q.ID, decision, an.By, value)
	return nil
}
