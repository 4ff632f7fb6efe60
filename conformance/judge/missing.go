package judge

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// Missing are the checks among results that gave no verdict: a whole suite in
// which a check finds nothing to judge does not prove it.
func Missing(results []conformance.Result) []*conformance.Check {
	judged := map[*conformance.Check]bool{}
	var out []*conformance.Check
	for _, r := range results {
		if _, seen := judged[r.Check]; !seen {
			out = append(out, r.Check)
		}
		judged[r.Check] = judged[r.Check] || r.Verdict.Judged() || beyondReach(&r)
	}
	return slices.DeleteFunc(out, func(c *conformance.Check) bool { return judged[c] })
}

const inRealTime = "the subject runs in a process of its own, where time is real"

// beyondReach reports whether no verdict is all that may be asked of a subject
// that is played in real time.
func beyondReach(r *conformance.Result) bool {
	return r.Verdict == conformance.NotExpressible && (r.Tier == conformance.TierProcess || r.Reason == inRealTime)
}

// untimed is the verdict of a check of virtual time in real time.
func Untimed(c *conformance.Check, r *conformance.Run) conformance.Result {
	return conformance.Result{
		Check: c, Case: r.Case.ID, Subject: r.Subject, Tier: conformance.TierTiming,
		Verdict: conformance.NotExpressible, Reason: inRealTime, Trial: &conformance.Trial{Run: r},
	}
}
