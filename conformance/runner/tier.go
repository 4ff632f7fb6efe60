package runner

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// stages says whether a subject is played in real time, and under which tier the checks of each
// tier are judged; "" is not at all. A subject that is a process is played in
// real time, and so is any other when the tier process is asked for.
func stages(cfg conformance.Config, s conformance.Subject) (external bool, as map[conformance.Tier]conformance.Tier) {
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

// faultyCases is on how many cases of a subject faults are tried in real time,
// unless all places are wanted. A subject that does not notice the end of its
// runtime takes EndLimit each time.
const faultyCases = 24

// sample marks the jobs of a subject that go without faults: all but some that
// are spread evenly.
func sampleJobs(cfg conformance.Config, s conformance.Subject, jobs []Job) {
	if external, _ := stages(cfg, s); !external || cfg.Places == 0 {
		return
	}
	var own []int
	for i := range jobs {
		if jobs[i].Subject == s {
			own = append(own, i)
		}
	}
	tried := spread(own, faultyCases, func(n int) int { return n / 2 })
	for _, i := range own {
		jobs[i].WithoutFaults = !slices.Contains(tried, i)
	}
}

// judgesReference reports whether the checks of the tier golden apply.
func judgesReference(cfg conformance.Config) bool {
	return (cfg.Reference || cfg.Golden) && cfg.Tier(conformance.TierGolden)
}
