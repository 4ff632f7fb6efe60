package broken_test

import (
	"flag"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

var update = flag.Bool("update", false, "write testdata/matrix.txt")

// TestBugs demands that the named check catches each public bug.
func TestBugs(t *testing.T) {
	for i, b := range defects.Bugs() {
		if quick() && i%6 != 0 {
			continue
		}
		t.Run(b.Defect, func(t *testing.T) { caught(t, b) })
	}
}

func caught(t *testing.T, b defects.Bug) {
	t.Helper()
	g := NewWithT(t)
	d, err := defects.Named(b.Defect)
	g.Expect(err).NotTo(HaveOccurred())
	check, err := backend.Named(b.Check)
	g.Expect(err).NotTo(HaveOccurred())
	all, err := fixtures.Embedded().CaseIDs()
	g.Expect(err).NotTo(HaveOccurred())
	for _, ref := range references()[:2] { // those of whose wires the bugs were reported
		ids := slices.DeleteFunc(fixtures.Newest(all), func(id string) bool {
			runtime, _, scenario := fixtures.SplitCaseID(id)
			return runtime != ref.Runtime() || scenario != b.Scenario
		})
		g.Expect(ids).NotTo(BeEmpty(), "%s has no case of %s", ref.Runtime(), b.Scenario)
		rep, err := runner.Run(t.Context(), conformance.Config{
			Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{d.Subject(ref)}, Checks: check, Cases: ids, Places: 4,
		})
		g.Expect(err).NotTo(HaveOccurred())
		for _, r := range rep.Results {
			g.Expect(r.Verdict).To(Equal(conformance.Fail), "%s, %s on %s", b.Defect, r.Check.ID, r.Case)
		}
	}
}
