package runner

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// tiersOf returns whether a subject runs in real time, and for the checks of each
// tier the tier in which they are judged; "": they are not. A subject that is a
// process runs in real time, and so does any other if the process tier is selected.
func tiersOf(cfg conformance.Config, s conformance.Subject) (external bool, as map[conformance.Tier]conformance.Tier) {
	as = map[conformance.Tier]conformance.Tier{}
	_, external = s.(conformance.External)
	if !external && !slices.Contains(cfg.Tiers, conformance.TierProcess) {
		for _, t := range []conformance.Tier{conformance.TierWitness, conformance.TierTiming} {
			if cfg.Tier(t) {
				as[t] = t
			}
		}
		if judgesReference(cfg) {
			as[conformance.TierGolden] = conformance.TierGolden
		}
		return false, as
	}
	if cfg.Tier(conformance.TierProcess) {
		as[conformance.TierWitness] = conformance.TierProcess
	}
	if len(cfg.Tiers) == 0 || slices.Contains(cfg.Tiers, conformance.TierTiming) {
		as[conformance.TierTiming] = conformance.TierTiming
	}
	return true, as
}

// faultCases is the number of cases of a subject on which faults are tried in real
// time, unless Config.Exhaustive is set. A subject that does not notice the end of its
// runtime takes perform.EndLimit each time.
const faultCases = 24

// sampleJobs marks the jobs of a subject that run without faults: all but some that
// are spread evenly.
func sampleJobs(cfg conformance.Config, s conformance.Subject, jobs []Job) {
	if external, _ := tiersOf(cfg, s); !external || cfg.Exhaustive {
		return
	}
	var own []int
	for i := range jobs {
		if jobs[i].Subject == s {
			own = append(own, i)
		}
	}
	tried := spread(own, faultCases, func(n int) int { return n / 2 })
	for _, i := range own {
		jobs[i].WithoutFaults = !slices.Contains(tried, i)
	}
}

// judgesReference reports whether the checks of the tier golden apply.
func judgesReference(cfg conformance.Config) bool {
	return (cfg.Reference || cfg.Golden) && cfg.Tier(conformance.TierGolden)
}
