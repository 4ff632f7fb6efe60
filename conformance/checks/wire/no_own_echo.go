package wire

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// NoOwnEcho is the check wire.no-own-echo.
var NoOwnEcho = &conformance.Check{
	ID: "wire.no-own-echo", Source: "wire/claude: user messages are replayed", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"user_message", "user_message.message_id", "user_message.text"},
	Needs:    []string{"user_message"},
	Mend:     "Recognize the echo of a sent message by its id, and use it only to report that the message was taken.",
	Sentence: "An echo of a message of the client is not reported as another message: each message is reported once, with its own text.",
	Judge:    judgeEcho,
	Faults:   []string{"echo-input"}, JudgeFault: faulted.JudgeHarmless,
}

func judgeEcho(t *conformance.Trial, f *conformance.Finding) {
	words := map[string]string{}
	for _, a := range t.Scenario.Client {
		if a.ID != "" && a.Text != "" {
			words[a.ID] = a.Text
		}
	}
	seen := map[string]bool{}
	for _, m := range runindex.Of(t.Run).Messages() {
		id := m.Data.MessageID
		if id == "" {
			continue
		}
		f.Asserted(1)
		if seen[id] {
			f.At(m.Event, "message %s is reported a second time", id)
		}
		seen[id] = true
		if want, sent := words[id]; sent && m.Data.Text != want {
			f.At(m.Event, "message %s is reported as %q, the user wrote %q", id, runindex.Clip(m.Data.Text), runindex.Clip(want))
		}
	}
}
