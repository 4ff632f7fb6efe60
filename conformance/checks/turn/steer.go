package turn

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Steer is the check turn.steer.
var Steer = &conformance.Check{
	ID: "turn.steer", Source: "wire/codex: turn/steer", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"user_message.via"},
	Needs:    []string{"user_message"},
	Mend:     "Send the message with the runtime's request for steering, and emit user_message when the runtime reports that it was taken.",
	Sentence: "A steered message becomes part of the running turn: user_message reports it, and it reaches the model.",
	Judge:    judgeSteer,
}

func judgeSteer(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbSteer || a.Step.Refused || a.Err != nil {
			continue
		}
		reached := slices.ContainsFunc(t.Witness, func(q fixtures.Request) bool { return slices.Contains(q.New, a.Step.ID) })
		if !reached {
			continue // the turn ended before the next request to the model
		}
		f.Asserted(1)
		f.Sent = t.Tier != conformance.TierLive
		messages := runindex.Of(t.Run).Messages()
		taken := slices.IndexFunc(messages, func(m *runindex.Message) bool { return m.Data.MessageID == a.Step.ID })
		if taken < 0 {
			f.Failf("message %s was steered into the turn, but no user_message reports it", a.Step.ID)
			continue
		}
		e, d := messages[taken].Event, messages[taken].Data
		switch {
		case d.Via != event.ViaSteer:
			f.At(e, "message %s was steered, but user_message has via %q", a.Step.ID, d.Via)
		case e.Turn == 0 || e.Steps <= i:
			f.At(e, "message %s was steered, but its user_message names no running turn", a.Step.ID)
		}
	}
}
