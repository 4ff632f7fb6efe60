package report_test

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// flaky is the example with a flaky verdict in place of the failure.
func flaky(onDemand bool) *conformance.Report {
	rep := sample()
	rep.Missing, rep.FailOnFlaky = nil, onDemand
	rep.Results[0].Verdict, rep.Results[0].Reason = conformance.Flaky, "it failed in the first of two tries; the second: pass"
	return rep
}

// TestFlakyIsNamed checks that each form names a flaky verdict, and that it fails the run
// only on demand.
func TestFlakyIsNamed(t *testing.T) {
	for _, onDemand := range []bool{false, true} {
		g := gomega.NewWithT(t)
		d := report.New(flaky(onDemand), report.About{})
		g.Expect(d.Failed).To(gomega.Equal(onDemand))
		texts := func(write report.Writer) string { return written(t, write, d) }
		var failures, table strings.Builder
		g.Expect(report.Failures(&failures, d, report.Style{})).To(gomega.Succeed())
		g.Expect(failures.String()).To(gomega.HavePrefix("\nFLAKY codex/1/text/plain [witness] text.once"))
		g.Expect(failures.String()).To(gomega.ContainSubstring("\n  it failed in the first of two tries; the second: pass\n  - the text came twice\n"))
		g.Expect(report.Table(&table, d, report.Style{})).To(gomega.Succeed())
		g.Expect(report.Summary(d, report.Style{})).To(gomega.HaveSuffix(": 3 checks, 1 pass, 1 flaky, 1 not applicable"))
		g.Expect(texts(report.JSON)).To(gomega.ContainSubstring(`"verdict":"flaky"`))
		if onDemand {
			g.Expect(table.String()).To(gomega.ContainSubstring("text.once   FLAKY 1 of 2 cases\n"))
			g.Expect(texts(report.JUnit)).To(gomega.ContainSubstring(`<failure message="text.once" type="flaky">`))
			g.Expect(texts(report.Markdown)).To(gomega.HavePrefix("## ❌ Turnspec: failed"))
			g.Expect(texts(report.HTML)).To(gomega.MatchRegexp(`"verdicts":"[^"]*L`))
		} else {
			g.Expect(table.String()).To(gomega.ContainSubstring("text.once   flaky 1 of 2 cases\n"))
			g.Expect(texts(report.JUnit)).To(gomega.And(gomega.ContainSubstring("FLAKY codex/1/text/plain"), gomega.ContainSubstring(`failures="0"`)))
			g.Expect(texts(report.Markdown)).To(gomega.HavePrefix("## ✅ Turnspec: passed"))
			g.Expect(texts(report.HTML)).To(gomega.MatchRegexp(`"verdicts":"[^"]*l`))
		}
		g.Expect(texts(report.Markdown)).To(gomega.ContainSubstring("| `text.once` (flaky) | mine | 1 | `codex/1/text/plain` |"))
		g.Expect(texts(report.WriteKnown)).To(gomega.ContainSubstring("check: text.once\ncase: codex/1/text/plain\nflaky: yes\nreason: TODO\n"))
	}
}

// TestFlakyBesideFailure checks that a check which is flaky on one case and fails on
// another shows both.
func TestFlakyBesideFailure(t *testing.T) {
	g := gomega.NewWithT(t)
	rep := flaky(false)
	rep.Results[1].Verdict = conformance.Fail
	var b strings.Builder
	g.Expect(report.Table(&b, report.New(rep, report.About{}), report.Style{})).To(gomega.Succeed())
	g.Expect(b.String()).To(gomega.ContainSubstring("text.once   FAIL 1 of 2 cases, 1 flaky\n"))
}

// TestFlakyKnownFailure checks that a known failure that is flaky never fails the run,
// and that the report asks for the line without which the entry would be stale.
func TestFlakyKnownFailure(t *testing.T) {
	for _, mayPass := range []bool{false, true} {
		g := gomega.NewWithT(t)
		rep := flaky(true)
		k := conformance.KnownFailure{Check: "text.once", Case: "text", Reason: "a race", MayPass: mayPass}
		rep.Results[0].KnownFailure = &k
		rep.KnownFailures = []conformance.KnownFailureUse{{KnownFailure: k, Failed: 1, Flaky: 1, Judged: 2}}
		d := report.New(rep, report.About{})
		g.Expect(d.Failed).To(gomega.BeFalse())
		var b strings.Builder
		g.Expect(report.Failures(&b, d, report.Style{})).To(gomega.Succeed())
		hint := " (add the line `flaky: yes`, or the entry will be stale when it passes)"
		if mayPass {
			hint = ""
		}
		g.Expect(b.String()).To(gomega.ContainSubstring("KNOWN text.once text: 1 failure, 1 of them flaky" + hint + ": a race\n"))
		g.Expect(written(t, report.HTML, d)).To(gomega.MatchRegexp(`"verdicts":"[^"]*k`))
	}
}
