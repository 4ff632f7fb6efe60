package judge

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// Missing returns the checks that gave no verdict on any case of the results.
func Missing(results []conformance.Result) []*conformance.Check {
	judged := map[*conformance.Check]bool{}
	var out []*conformance.Check
	for _, r := range results {
		if _, seen := judged[r.Check]; !seen {
			out = append(out, r.Check)
		}
		judged[r.Check] = judged[r.Check] || r.Verdict.Judged() || r.Verdict == conformance.NotTried || needsVirtualTime(&r)
	}
	return slices.DeleteFunc(out, func(c *conformance.Check) bool { return judged[c] })
}

const inRealTime = "the subject runs in a process of its own, where time is real"

// needsVirtualTime reports whether the check gave no verdict because the subject
// runs in real time.
func needsVirtualTime(r *conformance.Result) bool {
	return r.Verdict == conformance.NotExpressible && (r.Tier == conformance.TierProcess || r.Reason == inRealTime)
}

// Untimed returns the result of a check of times for a subject that runs in real
// time.
func Untimed(c *conformance.Check, r *conformance.Run) conformance.Result {
	return conformance.Result{
		Check: c, Case: r.Case.ID, Subject: r.Subject, Tier: conformance.TierTiming,
		Verdict: conformance.NotExpressible, Reason: inRealTime, Trial: &conformance.Trial{Run: r},
	}
}
