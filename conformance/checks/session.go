package checks

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	standin "github.com/turnspec/turnspec/fakes/runtime"
	"github.com/turnspec/turnspec/fixtures"
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
				f.Look(opened)
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
					d, is := e.Data.(event.SessionReady)
					if !is || i >= len(t.Opens) {
						continue
					}
					want := t.Opens[i].Provider
					i++
					if want == "" {
						continue
					}
					f.Look(1)
					if d.ProviderSessionID != want {
						f.At(e, "provider_session_id is %q, the runtime's is %q", d.ProviderSessionID, want)
					}
				}
			},
		},
		{
			ID: "session.returns", Severity: conformance.Must, Source: "adapters whose send hangs when the process dies", Tiers: both,
			Sentence: "Open, Send, Answer, Stop and Close return, and Events is closed after Close.",
			Wrote:    true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				f.Look(len(t.Acts))
				for _, a := range t.Acts {
					if conformance.Unfinished(a.Err) {
						f.Failf("%v", a.Err)
					}
				}
				if t.Hang != "" {
					f.Failf("the run did not come to its end: %s", t.Hang)
				}
			},
		},
		{
			ID: "session.resume-context", Severity: conformance.Must, Source: "public adapter test suites", Tiers: both,
			Sentence: "After resume the model sees the earlier turns: judged by what reaches the scripted model, not by events.",
			Wrote:    true,
			Judge:    judgeResume,
		},
	}
}

// sendsTaken counts the messages that the stand-in took as those of the case.
func sendsTaken(r *conformance.Run) int {
	n := 0
	for _, w := range r.Wrote {
		if w.Kind == standin.KindSend && w.Matched != nil {
			n++
		}
	}
	return n
}

func judgeResume(t *conformance.Trial, f *conformance.Finding) {
	var before, after []string // messages sent before and after the resume
	resumed := false
	for _, a := range t.Scenario.Client {
		switch {
		case a.Verb == fixtures.VerbOpen && a.What == "resume":
			resumed = true
		case a.Verb == fixtures.VerbSend && resumed:
			after = append(after, a.ID)
		case a.Verb == fixtures.VerbSend:
			before = append(before, a.ID)
		}
	}
	if !resumed {
		return
	}
	if t.Tier != conformance.TierLive {
		// In play the stand-in lets only the right id through the barrier.
		f.Sent = true
		for i, o := range t.Opens {
			if o.Resume == "" {
				continue
			}
			f.Look(1)
			if o.Err != nil {
				f.Failf("open %d: resume of %q was not accepted: %v", i+1, o.Resume, o.Err)
			}
		}
		if f.Looked == 0 {
			f.Look(1)
			f.Failf("the session was not resumed with the id that the runtime gave")
		}
		if taken := sendsTaken(t.Run); len(f.Problems) == 0 && taken < len(before)+len(after) {
			f.Failf("%d messages were to be sent before and after the resume, the runtime took %d: %s",
				len(before)+len(after), taken, strings.Join(t.Unrecorded, "; "))
		}
		return
	}
	seen := false
	for _, q := range t.Witness {
		if !slices.ContainsFunc(after, func(id string) bool { return slices.Contains(q.New, id) }) {
			continue
		}
		seen = true
		for _, id := range before {
			f.Look(1)
			if !slices.Contains(q.History, id) {
				f.Failf("request %d brings %v after the resume, but holds no message %s of before", q.Req, q.New, id)
			}
		}
	}
	if !seen {
		f.Look(1)
		f.Failf("no request with a message of after the resume reached the model")
	}
}
