package runner_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

func TestRunOfChosenFaults(t *testing.T) {
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{conformance.Adapter("codex", codex.New())},
		Checks: checks.All(), Cases: []string{"codex/newest/text/plain"},
	}
	for text, want := range map[string]int{"kill@23": 1, "kill": 1, "split-every-byte": 1} {
		g := NewWithT(t)
		at, err := conformance.ParseFaultAt(text)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(at.String()).To(Equal(text))
		cfg.Faults = []conformance.FaultAt{at}
		rep, err := runner.Run(t.Context(), cfg)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(rep.FaultRuns).To(Equal(want), text)
		for _, r := range rep.Results {
			g.Expect(r.Verdict.Bad()).To(BeFalse(), r.Check.ID)
		}
	}
	for text, why := range map[string]string{
		"kill@5":   "the cases have no place for the fault kill@5; " + fixtures.Embedded().Resolve("codex/newest/text/plain") + " has some at the lines 9 10 ",
		"killed":   `no fault "killed"; want one of `,
		"kill@":    "want NAME or NAME@LINE",
		"no-reply": "none of the checks tries the fault no-reply; they try kill, ",
	} {
		g := NewWithT(t)
		if text == "no-reply" {
			cfg.Checks = one(t, "turn.crash-ends")
		}
		at, err := conformance.ParseFaultAt(text)
		if err == nil {
			cfg.Faults = []conformance.FaultAt{at}
			_, err = runner.Jobs(cfg)
		}
		g.Expect(err).To(MatchError(ContainSubstring(why)))
		cfg.Checks = checks.All()
	}
}

func one(t *testing.T, id string) []*conformance.Check {
	t.Helper()
	found, err := checks.Named(id)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return found
}
