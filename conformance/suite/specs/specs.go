// Package specs adds the conformance suite to a Ginkgo suite. It is not part of the
// stable interface. It is the only package of the module that imports ginkgo; package
// suite runs the same as a plain Go test.
package specs

import (
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/conformance/suite/internal/reports"
)

// Describe adds one spec for each case and subject to the current suite; its name is
// "<case id> [<subject>]", so -ginkgo.focus chooses cases. One more spec fails if a
// known failure is stale, and another if no case gave a verdict. A shard has neither.
//
// The variable TURNSPEC_REPORT names reports to write, as for suite.Run, when t ends. If
// Ginkgo runs several processes, the one that ran the cases writes them.
//
// Call it before ginkgo.RunSpecs, in the test that calls RunSpecs. If cfg.Isolate is
// t.Name(), cases run in worker processes.
func Describe(t *testing.T, cfg conformance.Config) {
	t.Helper()
	jobs, err := runner.Jobs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	all, err := reports.NewCollector(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if all.Cases() > 0 {
			all.Write(t, cfg, report.GoTestCommand(t.Name()))
		}
	})
	// Ordered, because the last specs need the results of the others.
	ginkgo.Describe("an adapter", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		for _, j := range jobs {
			name := j.Case.ID + " [" + j.Subject.Name() + "]"
			ginkgo.It(name, func() {
				results, faultRuns, err := runner.Do(cfg, j)
				gomega.Expect(err).NotTo(gomega.HaveOccurred())
				all.Add(results, faultRuns)
				assertions := 0
				for _, r := range results {
					assertions += r.Assertions
				}
				ginkgo.AddReportEntry("assertions", assertions, ginkgo.ReportEntryVisibilityNever)
				ginkgo.AddReportEntry("runs with a fault", faultRuns, ginkgo.ReportEntryVisibilityNever)
				if failures := report.CaseFailures(cfg, results, report.GoTestCommand(t.Name(), "-ginkgo.focus="+name)); failures != "" {
					ginkgo.Fail(failures)
				}
				if reason := conformance.WhyUnjudged(results); reason != "" {
					ginkgo.Skip(reason)
				}
			})
		}
		if cfg.Shard.Partial() {
			return // only the whole run can judge the rest
		}
		ginkgo.It("gave a verdict", func() {
			gomega.Expect(conformance.WhyUnjudged(all.Results())).To(gomega.BeEmpty())
		})
		ginkgo.It("has no stale known failure", func() {
			uses, err := runner.KnownFailureUses(cfg, all.Results())
			gomega.Expect(err).NotTo(gomega.HaveOccurred())
			for _, u := range (&conformance.Report{KnownFailures: uses}).Stale() {
				gomega.Expect(u.Stale()).To(gomega.BeEmpty(), "%s: %s %s; remove the entry", u.At, u.Check, u.Case)
			}
		})
	})
}
