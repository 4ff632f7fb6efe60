//go:build live

package live

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/drift"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// driftScenarios are scenarios whose recordings differ most from time to time:
// retries with jitter, background work, random file names, sub-agents.
var driftScenarios = []string{
	"text/plain", "tool/text-tool-text-three-rounds", "tool/parallel", "model/overloaded-once", "model/cut-in-mid-text-then-retried",
	"model/cut-after-a-block-for-good", "background/tool-in-the-unprompted-turn", "background/two-commands", "mcp/gives-an-image",
	"hook/breaks", "subagent/writes-a-file", "stop/mid-text",
}

// TestVersionDoesNotDriftFromItself records scenarios on a version and compares them
// with the stored recordings of the same version.
func TestVersionDoesNotDriftFromItself(t *testing.T) {
	for name, reference := range map[string]adapters.Adapter{"claude": claude.New(), "codex": codex.New()} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			rt, err := runtimes.Find("", name, "")
			g.Expect(err).NotTo(HaveOccurred())
			var scenarios []*fixtures.Scenario
			for _, id := range driftScenarios {
				s, err := fixtures.LoadScenario(id)
				g.Expect(err).NotTo(HaveOccurred())
				if s.Excluded(name, rt.Version) == "" {
					scenarios = append(scenarios, s)
				}
			}
			g.Expect(len(scenarios)).To(BeNumerically(">=", 6))
			cfg := drift.Config{
				Runtime: name, Scenarios: scenarios, Subject: backend.Adapter(name, reference), Checks: checks.All(),
				Again: func(ctx context.Context, _ bool, again []*fixtures.Scenario) (drift.Side, error) {
					return drift.RecordedScenarios(ctx, again, rt, nil)
				},
			}
			var stored bool
			cfg.From, stored, err = drift.Stored(fixtures.Embedded(), scenarios, name, rt.Version)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(stored).To(BeTrue())
			cfg.To, err = drift.Recorded(t.Context(), scenarios, rt, nil)
			g.Expect(err).NotTo(HaveOccurred())
			rep, err := drift.Compare(t.Context(), cfg)
			g.Expect(err).NotTo(HaveOccurred())
			var text strings.Builder
			g.Expect(rep.Text(&text, true)).To(Succeed())
			g.Expect(rep.Verdict).To(Equal(drift.None), text.String())
			g.Expect(rep.Scenarios).To(Equal(len(scenarios)))
		})
	}
}
