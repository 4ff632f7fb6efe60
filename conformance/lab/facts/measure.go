package facts

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// Play lets the reference adapter of a case's runtime perform it. It returns nil if the
// runtime or the adapter cannot, or if there is no adapter for it.
func Play(corpus fixtures.Corpus, subjects map[string]conformance.Subject, id string) (*conformance.Run, error) {
	c, err := corpus.LoadCase(id)
	if err != nil || subjects[c.Runtime] == nil {
		return nil, err
	}
	rec, err := (&perform.Loader{Corpus: corpus}).Load(c)
	if err != nil || rec.Scenario.Inexpressible(c.Runtime) != "" {
		return nil, err
	}
	run := perform.Virtual(subjects[c.Runtime], rec, nil)
	if run.Unfinished() != "" || run.Harness != "" || judge.Unsupported(run) != "" {
		return nil, nil
	}
	return run, nil
}

// Fails reports whether a check fails on the events of a run. It is false for checks
// of the golden tier, and for those that judge further runs: with faults, or with
// other steps.
func Fails(c *conformance.Check, r *conformance.Run) bool {
	if c.Judge == nil || c.AlternateSteps != nil || slices.Equal(c.Tiers, []conformance.Tier{conformance.TierGolden}) {
		return false
	}
	return judge.Apply(c, &conformance.Trial{Run: r}, conformance.TierWitness).Verdict == conformance.Fail
}
