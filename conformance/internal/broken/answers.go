package broken

import (
	"io"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// answering are broken in what they make of a user's answers and wishes.
func answering() []Adapter {
	return []Adapter{
		{
			Name: "blames-a-rule", Sentence: "says that a rule decided what the user decided",
			Fails: []string{"permission.resolved"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				switch d := e.Data.(type) {
				case event.PermissionResolved:
					d.By = event.ByPolicy
					e.Data = d
				case event.InterruptResolved:
					d.By = event.ByPolicy
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "asks-nobody", Sentence: "does not pass on what the runtime asks",
			// Nothing is answered then, so that what follows of an answer fails too.
			Fails: []string{"permission.asked", "permission.decline-is-not-cancel", "permission.resolved", "question.answered", "text.once", "tool.known", "turn.slow-lives", "turn.stop", "wire.own-lines"},
			Only:  map[string]string{"tool.known": "codex", "turn.slow-lives": "claude"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				switch e.Data.(type) {
				case event.PermissionRequest, event.PermissionResolved, event.Interrupt, event.InterruptResolved:
				default:
					out(e)
				}
			}),
		},
		{
			Name: "allows-too-late", Sentence: "passes on an answer whose question is not open any more",
			Fails: []string{"permission.late", "wire.own-lines"},
			mutation: mutation{late: func(runtime, id string, w io.Writer) {
				line := `{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":{"behavior":"allow"}}}`
				if runtime == "codex" {
					line = `{"id":` + id[strings.LastIndex(id, ".")+1:] + `,"result":{"decision":"accept"}}`
				}
				_, _ = io.WriteString(w, line+"\n"+line+"\n")
			}},
		},
		{
			Name: "declines-by-stopping", Sentence: "stops the turn when the user declines a tool",
			Fails: []string{"permission.decline-is-not-cancel", "permission.resolved", "wire.own-lines"},
			mutation: mutation{answer: func(a *adapters.Answer) {
				if a.Decision == event.DecisionDeny {
					a.Decision = event.DecisionCancel
				}
			}},
		},
		{
			Name: "forgets-the-answer", Sentence: "tells the runtime that the user has answered, and not what",
			Fails:    []string{"question.answered", "wire.own-lines"},
			mutation: mutation{answer: func(a *adapters.Answer) { a.Value = nil }},
		},
		{
			Name: "changes-in-silence", Sentence: "does not tell that the model or the mode has changed",
			Fails: []string{"mode.told"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if e.Type() != event.TypeModelChanged && e.Type() != event.TypeModeChanged {
					out(e)
				}
			}),
		},
	}
}
