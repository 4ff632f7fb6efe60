package report_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// verdictsOf returns a report of one verdict on each of several checks, of cases of a
// version.
func verdictsOf(version string, verdicts ...conformance.Verdict) *conformance.Report {
	rep := &conformance.Report{Cases: 1}
	for i, v := range verdicts {
		rep.Results = append(rep.Results, conformance.Result{Check: &conformance.Check{ID: "test." + string(rune('a'+i))}, Case: "claude/" + version + "/text/plain", Subject: "<mine>", Tier: conformance.TierProcess, Verdict: v})
	}
	return rep
}

// TestPassedChecks checks what counts as passed.
func TestPassedChecks(t *testing.T) {
	all := []conformance.Verdict{conformance.Pass, conformance.Sent}
	known := verdictsOf("1", conformance.Pass, conformance.Fail)
	known.Results[1].KnownFailure = &conformance.KnownFailure{Reason: "x"}
	versions := verdictsOf("1", conformance.Pass)
	versions.Results = append(versions.Results, verdictsOf("2", conformance.Pass).Results...)
	codex := verdictsOf("1", conformance.Pass).Results[0]
	codex.Case = "codex/3/text/plain"
	versions.Results = append(versions.Results, codex)
	for _, x := range []struct {
		rep  *conformance.Report
		text string
	}{
		{verdictsOf("1", all...), "2 of 2 checks on claude 1"},
		{verdictsOf("1", append(all, conformance.NotApplicable)...), "2 of 2 checks on claude 1"},
		{verdictsOf("1", append(all, conformance.NotTried, conformance.NotExpressible, conformance.Unrecorded)...), "2 of 5 checks on claude 1"},
		{verdictsOf("1", append(all, conformance.Flaky)...), "2 of 3 checks on claude 1"},
		{known, "1 of 2 checks on claude 1"},
		{verdictsOf("1", append(all, conformance.Fail)...), "2 of 3 checks on claude 1"},
		{verdictsOf("1", conformance.NotTried), "0 of 1 checks on claude 1"},
		{&conformance.Report{}, "0 of 0 checks"},
		{versions, "1 of 1 checks on claude (2 versions) and codex 3"},
	} {
		g := gomega.NewWithT(t)
		d := report.New(x.rep, report.About{})
		g.Expect(written(t, report.Markdown, d)).To(gomega.ContainSubstring("\n" + x.text + "\n"))
	}
}
