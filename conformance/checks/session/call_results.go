package session

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// CallResults is the check session.call-results.
var CallResults = &conformance.Check{
	ID: "session.call-results", Source: "user interfaces that report a failure although the call succeeded", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:  []string{"session.acts-told"},
	Mend:     "Wait for the runtime's reply to a call. Return its error if it rejects the request, and nil if it accepts it; do not return before the reply.",
	Sentence: "A call returns an error if the runtime rejects it, and only then.",
	Judge:    judgeResults,
}

// judgeResults skips the steps that the runner performs without the subject.
func judgeResults(t *conformance.Trial, f *conformance.Finding) {
	for _, a := range t.Steps {
		switch a.Step.Verb {
		case fixtures.VerbWait, fixtures.VerbRelease, fixtures.VerbWrite, fixtures.VerbKill, fixtures.VerbAside, fixtures.VerbRaw, fixtures.VerbCloseStdin:
			continue
		}
		if a.Step.Late || perform.Unfinished(a.Err) || perform.NotStarted(a.Err) {
			continue // another check judges that
		}
		f.Asserted(1)
		switch {
		case a.Step.Refused && a.Err == nil:
			f.Failf("the runtime rejected %s, but the call returned no error", runindex.StepName(a.Step))
		case a.Step.Refused && runindex.ErrorText(a.Err) == "":
			f.Failf("the runtime rejected %s, but the error has no message", runindex.StepName(a.Step))
		case !a.Step.Refused && a.Err != nil:
			f.Failf("%s failed, but the runtime accepted it: %v", runindex.StepName(a.Step), a.Err)
		}
	}
}
