package runner

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// judging is a check that is being applied to a case.
type judging struct {
	check   *conformance.Check
	tier    conformance.Tier
	trial   *conformance.Trial
	found   conformance.Finding
	tried   int    // runs with a fault
	untried string // why a fault was not tried; "": all were
	// untimed is set if the check judges times and the subject runs in real time.
	untimed bool
}

// replayFunc performs the case with a fault, or without one if it is nil.
type replayFunc func(f *fault.Fault, scn *fixtures.Scenario) *conformance.Run

// keptRuns is how many runs with a fault a failure keeps for the report.
const keptRuns = 3

// judgePlain applies the checks to the run without a fault, and to one with
// alternate steps if a check has them.
func judgePlain(cfg conformance.Config, plain *conformance.Run, external, plainOnly bool, as map[conformance.Tier]conformance.Tier, replay replayFunc) []*judging {
	var out []*judging
	for _, check := range cfg.Checks {
		for _, tier := range []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden} {
			if !slices.Contains(check.Tiers, tier) || as[tier] == "" {
				continue
			}
			x := &judging{check: check, tier: as[tier], trial: &conformance.Trial{Run: plain}, untimed: external && tier == conformance.TierTiming}
			out = append(out, x)
			if !x.untimed {
				x.judgePlain(!plainOnly, replay)
			}
		}
	}
	return out
}

// judgePlain applies the check to the run without a fault, and to one with alternate
// steps if alternate is set and the check has them.
func (x *judging) judgePlain(alternate bool, replay replayFunc) {
	plain := x.trial.Run
	if x.check.AlternateSteps != nil && alternate {
		if client := x.check.AlternateSteps(plain.Scenario); client != nil {
			other := *plain.Scenario
			other.Client = client
			x.trial.Alternate = replay(nil, &other)
		}
	}
	if x.check.Judge != nil && plain.Harness == "" {
		judge.Guard(x.check, &x.found, func() { x.check.Judge(x.trial, &x.found) })
	}
}

// judgeFault applies the check to a run with a fault, which its problems name then.
func (x *judging) judgeFault(plain, faulted *conformance.Run) {
	x.tried++
	before := len(x.found.Problems)
	if faulted.Harness != "" {
		x.trial.Harness = faulted.Harness
	} else {
		judge.Guard(x.check, &x.found, func() { x.check.JudgeFault(plain, faulted, &x.found) })
	}
	for i := range x.found.Problems[before:] {
		p := &x.found.Problems[before+i]
		p.Fault, p.Text = faulted.Fault, faulted.Fault.String()+": "+p.Text
	}
	if len(x.found.Problems) > before && len(x.trial.Faulted) < keptRuns {
		x.trial.Faulted = append(x.trial.Faulted, faulted)
	}
}

// conclude returns the verdict of the check.
func (x *judging) conclude(plain *conformance.Run) conformance.Result {
	switch {
	case x.untimed:
		return judge.NotTried(x.check, plain, conformance.TierTiming, judge.InRealTime)
	case x.untried != "" && x.check.Judge == nil && x.tried == 0:
		return judge.NotTried(x.check, plain, x.tier, x.untried)
	}
	return judge.Conclude(x.check, x.trial, x.tier, &x.found)
}

// judgeFaulted tries each fault that a check wants, once for all checks that want
// it. It judges each run before the next one, so that few runs are in memory at a
// time, and returns the number of runs, and of those that were left out at the deadline.
func judgeFaulted(cfg conformance.Config, j Job, plain *conformance.Run, judged []*judging, external bool, replay func(*fault.Fault) *conformance.Run) (n, leftOut int, err error) {
	c := j.Case
	wanted := map[string][]*judging{}
	var names []string
	for _, x := range judged {
		for _, name := range x.check.Faults {
			if x.untimed {
				continue
			}
			why := ""
			switch {
			case !isChosen(cfg, name):
				why = notChosen
			case external:
				why = whyUntried(j, x.check, name, plain)
			case j.places != nil && len(j.places[name]) == 0:
				why = sampledOut
			}
			if why != "" {
				if err := x.noteUntried(j, plain, name, why); err != nil {
					return 0, 0, err
				}
				continue
			}
			if wanted[name] == nil {
				names = append(names, name)
			}
			wanted[name] = append(wanted[name], x)
		}
	}
	for _, name := range names {
		op, err := fault.Named(name)
		if err != nil {
			return n, leftOut, err
		}
		for _, place := range j.placesOf(cfg, plain.Scenario, op) {
			if j.context().Err() != nil {
				return n, leftOut, nil //nolint:nilerr // the caller drops what was interrupted
			}
			if j.over() {
				leftOut++
				for _, x := range wanted[name] {
					if err := x.noteUntried(j, plain, name, conformance.TimeIsOver); err != nil {
						return n, leftOut, err
					}
				}
				continue
			}
			f := op.Apply(c, place)
			run := replay(&f)
			run.Plain = plain
			n++
			for _, x := range wanted[name] {
				x.judgeFault(plain, run)
			}
		}
	}
	return n, leftOut, nil
}

// noteUntried records why a fault is not tried, if the case has a place for it. That it
// is tried elsewhere is the weakest reason.
func (x *judging) noteUntried(j Job, plain *conformance.Run, name, why string) error {
	if x.untried != "" && x.untried != sampledOut {
		return nil
	}
	has, err := j.hasPlace(plain.Scenario, name)
	if has {
		x.untried = why
	}
	return err
}

// samplePlaces picks the places at which a fault is tried: all, or some by the seed,
// or some evenly.
func samplePlaces(cfg conformance.Config, places []int, what string) []int {
	if cfg.Exhaustive {
		return places
	}
	n := max(cfg.Places, 1)
	if cfg.Seed == 0 {
		return spread(places, n, func(n int) int { return n / 2 })
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(what)) // it never fails
	return spread(places, n, rand.New(rand.NewPCG(cfg.Seed, h.Sum64())).IntN)
}

// spread picks at most n places: the first, which is in the handshake, and one of
// each of n-1 equal parts. If n is 1, it picks one of all.
func spread(places []int, n int, pick func(n int) int) []int {
	if len(places) <= n {
		return places
	}
	var out []int
	if n > 1 {
		out, n = append(out, places[0]), n-1
	}
	for i := range n {
		from, to := i*len(places)/n, (i+1)*len(places)/n
		out = append(out, places[from+pick(to-from)])
	}
	return out
}
