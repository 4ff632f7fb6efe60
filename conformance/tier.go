package conformance

import "slices"

// stages says whether a subject is played in real time, and under which tier the checks of each
// tier are judged; "" is not at all. A subject that is a process is played in
// real time, and so is any other when the tier process is asked for.
func (cfg Config) stages(s Subject) (external bool, as map[Tier]Tier) {
	as = map[Tier]Tier{}
	_, external = s.(External)
	if !external && !slices.Contains(cfg.Tiers, TierProcess) {
		for _, t := range []Tier{TierWitness, TierTiming} {
			if cfg.tier(t) {
				as[t] = t
			}
		}
		return false, as
	}
	if cfg.tier(TierProcess) {
		as[TierWitness] = TierProcess
	}
	if len(cfg.Tiers) == 0 || slices.Contains(cfg.Tiers, TierTiming) {
		as[TierTiming] = TierTiming
	}
	return true, as
}

// faultyCases is on how many cases of a subject faults are tried in real time,
// unless all places are wanted. A subject that does not notice the end of its
// runtime takes EndLimit each time.
const faultyCases = 24

// sample marks the jobs of a subject that go without faults: all but some that
// are spread evenly.
func (cfg Config) sampleJobs(s Subject, jobs []Job) {
	if external, _ := cfg.stages(s); !external || cfg.Places == 0 {
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

const inRealTime = "the subject runs in a process of its own, where time is real"

// beyondReach reports whether no verdict is all that may be asked of a subject
// that is played in real time.
func (r *Result) beyondReach() bool {
	return r.Verdict == NotExpressible && (r.Tier == TierProcess || r.Reason == inRealTime)
}

// untimed is the verdict of a check of virtual time in real time.
func untimed(c *Check, r *Run) Result {
	return Result{
		Check: c, Case: r.Case.ID, Subject: r.Subject, Tier: TierTiming,
		Verdict: NotExpressible, Reason: inRealTime, Trial: &Trial{Run: r},
	}
}
