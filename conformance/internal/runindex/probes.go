package runindex

import "github.com/turnspec/turnspec/conformance"

// JudgeProbe returns the Judge of a check whose findings a subject collects itself, in the
// probe with the check's id.
func JudgeProbe(id string) func(*conformance.Trial, *conformance.Finding) {
	return func(t *conformance.Trial, f *conformance.Finding) {
		for _, p := range t.Probes {
			if p.Name != id {
				continue
			}
			f.Asserted(p.Assertions)
			for _, problem := range p.Problems {
				f.Failf("%s", problem)
			}
		}
	}
}
