// Package suite answers one question: how does the conformance suite stand in
// somebody's ginkgo suite or go test?
//
// It is the only package of the module that imports ginkgo. Run is for a plain
// go test; Specs adds the specs to a suite of your own:
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

// Run runs the suite as a go test. Ginkgo allows one such call a test binary.
func Run(t *testing.T, cfg conformance.Config) {
	t.Helper()
	gomega.RegisterFailHandler(ginkgo.Fail)
	Specs(t, cfg)
	ginkgo.RunSpecs(t, "turnspec")
}

// Specs adds one spec a case and subject to the suite at hand: its name is
// "<case id> [<subject>]". What a case proves is judged outside of the bubble
// in which the subject performs, so that a failure is ginkgo's own. A last spec
// fails if some check gave no verdict on any case, unless Config names cases or
// a shard; another if a known failure is stale.
func Specs(t *testing.T, cfg conformance.Config) {
	t.Helper()
	jobs, err := runner.Jobs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	// Ordered, since the last spec looks at what the others found.
	ginkgo.Describe("an adapter", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		var all []conformance.Result
		for _, j := range jobs {
			ginkgo.It(j.Case.ID+" ["+j.Subject.Name()+"]", func() {
				results, harms, err := runner.Do(cfg, j)
				gomega.Expect(err).NotTo(gomega.HaveOccurred())
				all = append(all, results...)
				var failures strings.Builder
				looked := 0
				for _, r := range results {
					looked += r.Assertions
					if r.Verdict.Bad() && r.KnownFailure == nil && r.Check.Severity == conformance.Must {
						gomega.Expect(report.Failure(&failures, r, report.Style{})).To(gomega.Succeed())
					}
				}
				ginkgo.AddReportEntry("looked", looked, ginkgo.ReportEntryVisibilityNever)
				ginkgo.AddReportEntry("runs with a fault", harms, ginkgo.ReportEntryVisibilityNever)
				if failures.Len() > 0 {
					ginkgo.Fail(failures.String())
				}
				gomega.Expect(looked).To(gomega.BeNumerically(">", 0), "no check looked at anything in "+j.Case.ID)
			})
		}
		if cfg.Shard.Partial() {
			return // only the whole can tell
		}
		ginkgo.It("has no known failure that fails no more", func() {
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
