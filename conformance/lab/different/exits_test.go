package different_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/different"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestProcessExitsWhileAToolReplies kills the runtime at each line of the cases in which a
// tool or hook of the client replies, and so in the instant of each reply. Adapters that
// call tools at once, late, and that emit events late must fail no check.
func TestProcessExitsWhileAToolReplies(t *testing.T) {
	for _, name := range []string{"reference", "slow-tools", "delays-events"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := different.Adapter{Sentence: "is not changed"}
			if i := slices.IndexFunc(different.All(), func(a different.Adapter) bool { return a.Name == name }); i >= 0 {
				a = different.All()[i]
			}
			var killed []*conformance.Check
			for _, c := range backend.Checks() {
				if slices.Contains(c.Faults, "kill") {
					c := *c
					c.Faults = []string{"kill"}
					killed = append(killed, &c)
				}
			}
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: fixtures.Embedded(), Checks: killed, Exhaustive: true, Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden},
				Cases:    racesample.Sample([]string{"client/tool-answers", "client/two-tools-at-once", "component/asks-the-user", "hook/is-slow"}, 4),
				Subjects: []conformance.Subject{a.Subject(backend.Adapter("codex", codex.New())), a.Subject(backend.Adapter("claude", claude.New()))},
			})
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			NewWithT(t).Expect(rep.FaultRuns).To(BeNumerically(">", 100))
			judge(t, a, rep.Results)
		})
	}
}
