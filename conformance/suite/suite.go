// Package suite runs the conformance suite as a Go test or as part of a Ginkgo suite.
//
// Run is for a plain Go test. Specs adds the specs to your Ginkgo suite. This is the
// only package of the module that imports ginkgo.
//
//	func TestConformance(t *testing.T) {
//		suite.Run(t, conformance.Config{
//			Corpus:   fixtures.Embedded(),
//			Subjects: []conformance.Subject{myAdapter{}},
//			Checks:   checks.All(),
//		})
//	}
package suite

import (
	"strings"
	"testing"

	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// Run runs the suite as a Go test. Ginkgo allows one such call per test binary.
func Run(t *testing.T, cfg conformance.Config) {
	t.Helper()
	gomega.RegisterFailHandler(ginkgo.Fail)
	Specs(t, cfg)
	ginkgo.RunSpecs(t, "turnspec")
}

// Specs adds one spec for each case and subject to the current suite; its name is
// "<case id> [<subject>]". Each case is judged outside of the synctest bubble in
// which the subject runs. One more spec fails if a known failure is stale, another
// if a check gave no verdict on any case. A shard has neither. A config that names
// cases does not have the second one.
func Specs(t *testing.T, cfg conformance.Config) {
	t.Helper()
	jobs, err := runner.Jobs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	// Ordered, because the last specs need the results of the others.
	ginkgo.Describe("an adapter", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		var all []conformance.Result
		for _, j := range jobs {
			ginkgo.It(j.Case.ID+" ["+j.Subject.Name()+"]", func() {
				results, faultRuns, err := runner.Do(cfg, j)
				gomega.Expect(err).NotTo(gomega.HaveOccurred())
				all = append(all, results...)
				var failures strings.Builder
				assertions := 0
				for _, r := range results {
					assertions += r.Assertions
					if r.Verdict.Bad() && r.KnownFailure == nil && r.Check.Severity == conformance.Must {
						gomega.Expect(report.Failure(&failures, r, report.Style{})).To(gomega.Succeed())
					}
				}
				ginkgo.AddReportEntry("assertions", assertions, ginkgo.ReportEntryVisibilityNever)
				ginkgo.AddReportEntry("runs with a fault", faultRuns, ginkgo.ReportEntryVisibilityNever)
				if failures.Len() > 0 {
					ginkgo.Fail(failures.String())
				}
				gomega.Expect(assertions).To(gomega.BeNumerically(">", 0), "no check made an assertion in "+j.Case.ID)
			})
		}
		if cfg.Shard.Partial() {
			return // only the whole run can judge the rest
		}
		ginkgo.It("has no stale known failure", func() {
			uses, err := runner.KnownFailureUses(cfg, all)
			gomega.Expect(err).NotTo(gomega.HaveOccurred())
			for _, u := range (&conformance.Report{KnownFailures: uses}).Stale() {
				gomega.Expect(u.Stale()).To(gomega.BeEmpty(), "%s: %s %s; remove the entry", u.At, u.Check, u.Case)
			}
		})
		if len(cfg.Cases) > 0 {
			return // some cases need not exercise every check
		}
		ginkgo.It("is judged by every check", func() {
			var ids []string
			for _, c := range judge.Missing(all) {
				ids = append(ids, c.ID)
			}
			gomega.Expect(ids).To(gomega.BeEmpty(), "no case gave a verdict on them")
		})
	})
}
