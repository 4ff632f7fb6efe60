package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// ResumeNoReplay is the check session.resume-no-replay.
var ResumeNoReplay = &conformance.Check{
	ID: "session.resume-no-replay", Source: "codex-acp#206, zed codex-acp#191", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"session_ready.resumed"},
	Mend:     "When a session is resumed the runtime may send its old messages. Skip them: emit events only for what follows the resume's reply.",
	Sentence: "Resuming emits no old text as new events.",
	Judge:    judgeNoReplay,
}

// judgeNoReplay demands that no old text is emitted between the open of a session with
// a history and the first message to it.
func judgeNoReplay(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbOpen || a.Step.What == "" || a.Err != nil {
			continue
		}
		f.Asserted(1)
		for _, e := range t.Events {
			if e.Steps != i+1 {
				continue
			}
			switch e.Type() {
			case event.TypeDelta, event.TypeThinking, event.TypeUserMessage, event.TypeTurnStart, event.TypeToolStart,
				event.TypeToolResult, event.TypeResult, event.TypeDone, event.TypePermissionRequest:
				f.At(e, "%s follows the %s, before a message was sent", e.Type(), a.Step.What)
				return
			}
		}
	}
}
