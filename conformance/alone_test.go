package conformance_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// TestEachCheckAlone runs each check without the others, as `turnspec run --check` does:
// none may rely on what another one has read of a run.
func TestEachCheckAlone(t *testing.T) {
	for runtime, id := range map[string]string{"claude": "claude/newest/session/fork-with-tools", "codex": "codex/newest/session/fork-with-tools"} {
		subject := backend.Adapter(runtime, reference.Of(runtime))
		for _, c := range backend.Checks() {
			t.Run(runtime+" "+c.ID, func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				rep, err := runner.Run(t.Context(), conformance.Config{
					Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{subject}, Checks: []*conformance.Check{c},
					Cases: []string{id}, Places: 1, Seed: 1,
				})
				g.Expect(err).NotTo(HaveOccurred())
				for _, r := range rep.Results {
					g.Expect(r.Verdict.Bad()).To(BeFalse(), "%s on %s: %s %v", c.ID, r.Case, r.Verdict, r.Reason)
				}
			})
		}
	}
}

// TestFaultsAtCertainPlaces tries faults at places that only --exhaustive tries, and at
// which checks of the reference failed.
func TestFaultsAtCertainPlaces(t *testing.T) {
	for _, x := range []struct {
		runtime, id, check string
		fault              conformance.FaultAt
	}{
		{"codex", "codex/newest/subagent/asks-beside-the-turn", "session.transcript", conformance.FaultAt{Name: "kill", Line: 50}},
		{"codex", "codex/newest/subagent/is-denied-beside-the-turn", "session.transcript", conformance.FaultAt{Name: "kill"}},
		{"codex", "codex/0.120.0/policy/of-a-sub-agent-beside-the-turn", "session.transcript", conformance.FaultAt{Name: "kill"}},
		{"pi", "pi/0.87.1/queue/kept-by-a-stop", "turn.crash-ends", conformance.FaultAt{Name: "kill", Line: 31}},
		{"chat", "chat/2-relayed/limit/requests-with-a-client-tool", "turn.crash-ends", conformance.FaultAt{Name: "exit-without-newline", Line: 21}},
	} {
		t.Run(x.id, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			check, err := backend.Named(x.check)
			g.Expect(err).NotTo(HaveOccurred())
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{backend.Adapter(x.runtime, reference.Of(x.runtime))},
				Checks: check, Cases: []string{x.id}, Faults: []conformance.FaultAt{x.fault}, Exhaustive: true,
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(rep.FaultRuns).NotTo(BeZero())
			for _, r := range rep.Results {
				g.Expect(r.Verdict.Bad()).To(BeFalse(), "%s on %s: %s %v", r.Check.ID, r.Case, r.Verdict, r.Problems)
			}
		})
	}
}
