package checks

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/standin"
)

func sessionChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "session.ready-first", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "The first event of a session is session_ready.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				opened := 0
				for _, o := range t.Opens {
					if o.Err == nil {
						opened++
					}
				}
				ready := 0
				begin := true // the next event is the first of its process
				for _, e := range t.Events {
					_, is := e.Data.(event.SessionReady)
					switch {
					case begin && !is:
						f.At(e, "the first event is %s", e.Type())
					case is:
						ready++
					}
					_, begin = e.Data.(event.SessionEnd)
				}
				f.Asserted(opened)
				if ready != opened {
					f.Failf("%d sessions were opened, but session_ready came %d times", opened, ready)
				}
			},
		},
		{
			ID: "session.provider-id", Severity: conformance.Must, Source: "adapters that read result.id where Codex answers result.thread.id", Tiers: both,
			Sentence: "session_ready carries the runtime's own session or thread id, and it is the one that the runtime sent.",
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
		},
		{
			ID: "session.returns", Severity: conformance.Must, Source: "adapters whose send hangs when the process dies", Tiers: both,
			Sentence:      "Open, Send, Answer, Stop and Close return, and Events is closed after Close.",
			JudgesWritten: true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				f.Asserted(len(t.Steps))
				for _, a := range t.Steps {
					if perform.Unfinished(a.Err) {
						f.Failf("%v", a.Err)
					}
				}
				if t.Hang != "" {
					f.Failf("the run did not come to its end: %s", t.Hang)
				}
			},
		},
	}
}

// sendsTaken counts the messages that the stand-in took as those of the case.
func sendsTaken(r *conformance.Run) int {
	n := 0
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindSend && w.Matched != nil {
			n++
		}
	}
	return n
}
