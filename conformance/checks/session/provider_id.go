package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// ProviderID is the check session.provider-id.
var ProviderID = &conformance.Check{
	ID: "session.provider-id", Source: "adapters that read result.id where Codex answers result.thread.id", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"session_ready.provider_session_id"},
	Aliases:  []string{"session.ready-once-per-open"},
	Needs:    []string{"session_ready.provider_session_id"},
	Mend:     "Take the id from the runtime's own line (`session_id` of Claude Code, `thread.id` of Codex), not from the id that the client chose.",
	Sentence: "session_ready holds the session or thread id that the runtime sent.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		i := 0
		for _, e := range t.Events {
			for i < len(t.Opens) && t.Opens[i].Err != nil {
				i++
			}
			d, is := e.Data.(event.SessionReady)
			if !is || i >= len(t.Opens) {
				continue
			}
			want := t.Opens[i].Provider
			i++
			if want == "" {
				continue
			}
			f.Asserted(1)
			if d.ProviderSessionID != want {
				f.At(e, "provider_session_id is %q, the runtime's is %q", d.ProviderSessionID, want)
			}
		}
	},
}
