package question

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Answered is the check question.answered.
var Answered = &conformance.Check{
	ID: "question.answered", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:        []string{"interrupt.props", "interrupt_resolved.value"},
	Needs:         []string{"interrupt"},
	Mend:          "Emit interrupt with all questions and choices. Send the user's value back in the form of the runtime's reply, and repeat it in interrupt_resolved.",
	Sentence:      "A question to the user becomes an interrupt with its component, which holds each question and choice. The answer reaches the model, and interrupt_resolved holds it.",
	JudgesWritten: true,
	Judge:         judgeAnswered,
}

// judgeAnswered judges questions that the user answered with text.
func judgeAnswered(t *conformance.Trial, f *conformance.Finding) {
	var words []string
	n := 0
	for _, a := range runindex.Answers(t.Run) {
		if a.What == fixtures.AnswerValue {
			n++
			words = append(words, texts(a.Value)...)
		}
	}
	if n == 0 {
		return
	}
	f.Asserted(n)
	for e, d := range runindex.EventsOf[event.Interrupt](t.Run) {
		if d.ComponentName == "" || len(d.Props) == 0 {
			f.At(e, "interrupt %s has no component or no props", d.InterruptID)
		}
	}
	judgeQuestions(t, f)
	judgeValues(t, f)
	var came strings.Builder
	if f.Sent = t.Tier != conformance.TierLive; f.Sent {
		for _, w := range t.ClientActions {
			if w.Kind == standin.KindAnswer {
				came.Write(filledIn(w.Bytes))
			}
		}
	} else {
		for _, result := range runindex.ToolResults(t.Run) {
			came.WriteString(result)
		}
	}
	for _, w := range words {
		if quoted := string(wire.Quote(w)); !strings.Contains(came.String(), w) && !strings.Contains(came.String(), quoted[1:len(quoted)-1]) {
			f.Failf("the user answered %q, but the answer did not reach the runtime or its model", w)
		}
	}
}

// judgeQuestions demands that an interrupt holds the text of each question that the
// model asked, and of each choice.
func judgeQuestions(t *conformance.Trial, f *conformance.Finding) {
	if len(t.Unrecorded) > 0 {
		return
	}
	for _, call := range runindex.AllCalls(t.Run) {
		var in struct {
			Questions []struct {
				Question string `json:"question"`
				Options  []struct {
					Label string `json:"label"`
				} `json:"options"`
			} `json:"questions"`
		}
		if call.Tool != "ask" || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		for _, q := range in.Questions {
			words := []string{q.Question}
			for _, o := range q.Options {
				words = append(words, o.Label)
			}
			f.Asserted(1)
			if !asked(t.Run, words) {
				f.Failf("the model asked %q, but the props of no interrupt hold the question and its choices", words)
			}
		}
	}
}

// asked reports whether the props of an interrupt hold all texts.
func asked(r *conformance.Run, texts []string) bool {
	for _, d := range runindex.EventsOf[event.Interrupt](r) {
		if !slices.ContainsFunc(texts, func(s string) bool { return !runindex.Holds(d.Props, s) }) {
			return true
		}
	}
	return false
}

// judgeValues compares the values of interrupt_resolved with the answers of the user.
func judgeValues(t *conformance.Trial, f *conformance.Finding) {
	want := slices.DeleteFunc(runindex.Answers(t.Run), func(a fixtures.Step) bool { return a.What != fixtures.AnswerValue })
	var got, all []conformance.Event
	for e, d := range runindex.EventsOf[event.InterruptResolved](t.Run) {
		if d.By != event.ByUser {
			continue
		}
		all = append(all, e)
		if d.Value.Kind() == '{' {
			got = append(got, e)
		}
	}
	switch len(want) {
	case len(all):
		got = all // none was answered with yes or no, so each has a value
	case len(got):
	default:
		return
	}
	for i, e := range got {
		d, _ := e.Data.(event.InterruptResolved)
		f.Asserted(1)
		if runindex.Canonical(d.Value) != runindex.Canonical(want[i].Value) {
			f.At(e, "the user answered %s, but the value of %s is %s", want[i].Value, d.InterruptID, d.Value)
		}
	}
}

// filledIn returns the answer in a reply, without the question, which the reply may
// repeat.
func filledIn(reply []byte) []byte {
	for _, member := range []string{`"answers":`, `"content":`, `"value":`} {
		if i := bytes.Index(reply, []byte(member)); i >= 0 {
			return reply[i:]
		}
	}
	return nil
}

// texts returns the strings among the values of an object.
func texts(v jsontext.Value) []string {
	var m map[string]any
	if json.Unmarshal(v, &m) != nil {
		return nil
	}
	var out []string
	for name, x := range m {
		if name == "action" { // of an elicitation: yes or no, no text
			continue
		}
		switch x := x.(type) {
		case string:
			out = append(out, x)
		case []any:
			for _, y := range x {
				if s, ok := y.(string); ok {
					out = append(out, s)
				}
			}
		}
	}
	return out
}
