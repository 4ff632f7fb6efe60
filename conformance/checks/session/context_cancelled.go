package session

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// ContextCancelled is the check session.context-cancelled.
var ContextCancelled = &conformance.Check{
	ID: "session.context-cancelled", Source: "calls that cannot be cancelled", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:  []string{"session.gives-up"},
	Mend:     "Select on the context wherever a call waits: for a reply, a lock or a pipe. If Open returns an error, end the process that it started.",
	Sentence: "A call whose context ends returns an error at once, and Open ends the process that it started.",
	Faults:   []string{"no-reply", "no-handshake-in-time"}, JudgeFault: judgeCancelled,
}

// judgeCancelled judges the calls whose context ended before the reply came.
func judgeCancelled(_, r *conformance.Run, f *conformance.Finding) {
	for _, a := range r.Steps {
		limit := r.Fault.ClientTimeout + perform.PromptLimit
		switch a.Step.Verb {
		case fixtures.VerbClose, fixtures.VerbArchive:
			continue // not limited by their context
		case fixtures.VerbOpen:
			limit += perform.EndLimit // the process has to end
		}
		if a.For < r.Fault.ClientTimeout {
			continue
		}
		f.Asserted(1)
		switch {
		case perform.Unfinished(a.Err) || a.For > limit:
			f.Failf("the context of %s ended after %v, and it returned after %v", runindex.StepName(a.Step), r.Fault.ClientTimeout, a.For)
		case a.Err == nil:
			f.Failf("the context of %s ended before the runtime had replied, but the call returned no error", runindex.StepName(a.Step))
		}
	}
}
