package judge

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// Missing returns the checks that gave no verdict on any case of the results, without
// a reason that lies in the subject or in how it was run.
func Missing(results []conformance.Result) []*conformance.Check {
	judged := map[*conformance.Check]bool{}
	var out []*conformance.Check
	for _, r := range results {
		if _, seen := judged[r.Check]; !seen {
			out = append(out, r.Check)
		}
		judged[r.Check] = judged[r.Check] || r.Verdict.Judged() || explained(&r)
	}
	return slices.DeleteFunc(out, func(c *conformance.Check) bool { return judged[c] })
}

// InRealTime is why a check of times is not tried on an external subject.
const InRealTime = "it judges times, which are exact in virtual time only, and the subject runs in a process of its own"

// explained reports whether a result without a verdict on the subject says why there
// is none.
func explained(r *conformance.Result) bool {
	switch r.Verdict {
	case conformance.NotTried:
		return true
	case conformance.NotExpressible:
		return r.Tier == conformance.TierProcess
	case conformance.NotApplicable:
		return r.Reason != ""
	}
	return false
}

// NotTried returns the result of a check that was not tried on a case.
func NotTried(c *conformance.Check, r *conformance.Run, tier conformance.Tier, why string) conformance.Result {
	return conformance.Result{
		Check: c, Case: r.Case.ID, Subject: r.Subject, Tier: tier,
		Verdict: conformance.NotTried, Reason: why, Trial: &conformance.Trial{Run: r},
	}
}
