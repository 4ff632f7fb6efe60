package question

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Answered is the check question.answered.
var Answered = &conformance.Check{
	ID: "question.answered", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:         []string{"interrupt"},
	Sentence:      "A question to the user becomes an interrupt with its component, and the answer reaches the model.",
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
		if !strings.Contains(came.String(), w) {
			f.Failf("the user answered %q, but the answer did not reach the runtime or its model", w)
		}
	}
}

// filledIn returns the answer in a reply, without the question, which the reply may
// repeat.
func filledIn(reply []byte) []byte {
	for _, member := range []string{`"answers":`, `"content":`} {
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
