package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
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
			want := t.Recorded(t.Opens[i].Provider)
			i++
			if lines := runindex.Of(t.Run).Lines(); want == "" && e.Line > 0 && e.Line <= len(lines) {
				want = lines[e.Line-1].Opened // its first message opens the session
			}
			if want == "" {
				continue
			}
			f.Asserted(1)
			if t.Recorded(d.ProviderSessionID) != want {
				f.At(e, "provider_session_id is %q, the runtime's is %q", d.ProviderSessionID, want)
			}
		}
	},
}
