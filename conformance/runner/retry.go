package runner

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/fakes/fault"
)

// retryFailures tries the failed checks of a subject that runs in real time a second
// time: it replays the case once more, without a fault and with the faults that showed a
// problem. It sets the verdict of a check that does not fail again to flaky.
func retryFailures(cfg conformance.Config, first *conformance.Run, results []conformance.Result, replay replayFunc) {
	type retry struct {
		judging
		result *conformance.Result
	}
	var retries []*retry
	var faults []*fault.Fault
	wanted := map[faultPlace][]*retry{}
	for i := range results {
		r := &results[i]
		if r.Verdict != conformance.Fail || mayPass(cfg, *r) {
			continue
		}
		x := &retry{judging{check: r.Check, tier: r.Tier}, r}
		retries = append(retries, x)
		for _, p := range r.Problems {
			if p.Fault == nil {
				continue
			}
			at := faultPlace{p.Fault.Operator, p.Fault.Place}
			if wanted[at] == nil {
				faults = append(faults, p.Fault)
			}
			if !slices.Contains(wanted[at], x) {
				wanted[at] = append(wanted[at], x)
			}
		}
	}
	if len(retries) == 0 {
		return
	}
	plain := replay(nil, first.Scenario)
	for _, x := range retries {
		x.trial = &conformance.Trial{Run: plain}
		if slices.ContainsFunc(x.result.Problems, func(p conformance.Problem) bool { return p.Fault == nil }) {
			x.judgePlain(x.result.Trial.Alternate != nil, replay)
		}
	}
	for _, f := range faults {
		run := replay(f, first.Scenario)
		run.Plain = plain
		for _, x := range wanted[faultPlace{f.Operator, f.Place}] {
			x.judgeFault(plain, run)
		}
	}
	for _, x := range retries {
		*x.result = judge.SecondTry(*x.result, x.conclude(plain))
	}
}

// faultPlace names a fault of a case.
type faultPlace struct {
	operator string
	place    int
}

// mayPass reports whether a known failure names the result as one that comes and goes.
func mayPass(cfg conformance.Config, r conformance.Result) bool {
	return slices.ContainsFunc(cfg.KnownFailures, func(k conformance.KnownFailure) bool { return k.MayPass && k.Names(r) })
}
