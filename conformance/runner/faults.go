package runner

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// judging is a check at work on a case.
type judging struct {
	check *conformance.Check
	tier  conformance.Tier
	trial *conformance.Trial
	found conformance.Finding
	// untimed: it judges times, and there are none to judge.
	untimed bool
}

// keptRuns bounds the runs with a fault that a failure keeps to be shown.
const keptRuns = 3

// judgePlain lets the checks look at the run without a fault, and at that with
// other acts where they want it.
func judgePlain(cfg conformance.Config, plain *conformance.Run, external, alone bool, as map[conformance.Tier]conformance.Tier, with func(acts []fixtures.Step) *conformance.Run) []*judging {
	var out []*judging
	for _, check := range cfg.Checks {
		for _, tier := range []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden} {
			if !slices.Contains(check.Tiers, tier) || as[tier] == "" {
				continue
			}
			x := &judging{check: check, tier: as[tier], trial: &conformance.Trial{Run: plain}, untimed: external && tier == conformance.TierTiming}
			out = append(out, x)
			if x.untimed {
				continue
			}
			if check.AlternateSteps != nil && !alone {
				if acts := check.AlternateSteps(plain.Scenario); acts != nil {
					x.trial.Alternate = with(acts)
				}
			}
			if check.Judge != nil && plain.Harness == "" {
				check.Judge(x.trial, &x.found)
			}
		}
	}
	return out
}

// promptly are the faults that are tried on real processes: what comes of the
// others takes minutes, which only pass quickly in virtual time.
var promptly = []string{
	"unknown-message", "unknown-field", "split-every-byte", "split-random", "glue-lines", "crlf", "no-final-newline", "kill",
}

// judgeHarmed tries each fault that a check wants, once for all checks that want
// it: a run is judged and forgotten before the next one. It returns how many
// there were.
func judgeHarmed(cfg conformance.Config, c *fixtures.Case, plain *conformance.Run, judged []*judging, external bool, play func(*fault.Fault) *conformance.Run) (int, error) {
	wanted := map[string][]*judging{}
	var names []string
	for _, x := range judged {
		for _, name := range x.check.Faults {
			if external && !slices.Contains(promptly, name) || x.untimed {
				continue
			}
			if wanted[name] == nil {
				names = append(names, name)
			}
			wanted[name] = append(wanted[name], x)
		}
	}
	n := 0
	for _, name := range names {
		op, err := fault.Named(name)
		if err != nil {
			return n, err
		}
		for _, place := range sample(cfg, op.Places(c, plain.Scenario), c.ID+" "+name) {
			harm := op.Apply(c, place)
			run := play(&harm)
			run.Plain = plain
			n++
			for _, x := range wanted[name] {
				before := len(x.found.Problems)
				switch {
				case run.Harness != "":
					x.trial.Harness = run.Harness
				default:
					x.check.JudgeFault(plain, run, &x.found)
				}
				if len(x.found.Problems) > before && len(x.trial.Faulted) < keptRuns {
					x.trial.Faulted = append(x.trial.Faulted, run)
				}
			}
		}
	}
	return n, nil
}

// sample picks the places at which a fault is tried: by the seed, or evenly.
func sample(cfg conformance.Config, places []int, what string) []int {
	if cfg.Seed == 0 {
		return spread(places, cfg.Places, func(n int) int { return n / 2 })
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(what)) // it never fails
	return spread(places, cfg.Places, rand.New(rand.NewPCG(cfg.Seed, h.Sum64())).IntN)
}

// spread picks at most n places: the first of all, which lies in the handshake,
// and one of each of n-1 equal parts of all. One place alone is of the whole.
func spread(places []int, n int, pick func(n int) int) []int {
	if n <= 0 || len(places) <= n {
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
