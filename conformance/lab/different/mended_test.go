package different_test

import (
	"slices"
	"strings"
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

// mended holds the verdicts that a check once gave wrongly, each with the scenario
// that showed it on a correct adapter.
var mended = []struct {
	check, scenario string
	adapter         string // of this package
	why             string // the check failed it
	runtimes        int    // on how many versions the check gives a verdict
}{
	{"permission.asked", "mcp/takes-its-question-back", "renames-questions", "the answers of the scenario were counted, not the questions of the runtime", 4},
	{"permission.answered-once", "mcp/takes-its-question-back", "delays-events", "a question that was withdrawn in the first turn counted as open when the session was closed in the second", 4},
	{"session.end-reason", "session/resume-after-kill", "codes-signals", "an exit code of a signal was never that of the process", 4},
	{"turn.after-stop", "queue/withdrawn-after-a-stop", "slow-to-call", "a message that the user withdrew after a stop was to have a turn", 2},
}

// TestMended demands that the checks pass where they once failed a correct adapter.
func TestMended(t *testing.T) {
	for _, x := range mended {
		t.Run(x.check, func(t *testing.T) {
			g := NewWithT(t)
			results := mendedResults(t, x.check, x.scenario, x.adapter)
			g.Expect(results).To(HaveLen(x.runtimes), "cases")
			for _, r := range results {
				g.Expect(r.Verdict).To(Or(Equal(conformance.Pass), Equal(conformance.Sent)), "%s: %s (once: %s)", r.Case, describe(r), x.why)
			}
		})
	}
}

// TestAnAdapterMayRefuseAMode demands that an adapter passes all checks which refuses an
// unknown mode itself, and never sends the recorded request.
func TestAnAdapterMayRefuseAMode(t *testing.T) {
	passesAll(t, "checks-modes", "mode/unknown-mode-refused")
}

// TestAForkMayReuseIDsOfBlocks demands that an adapter passes all checks which numbers the
// blocks of each session from one.
func TestAForkMayReuseIDsOfBlocks(t *testing.T) {
	passesAll(t, "renames-blocks", "session/fork-with-tools")
}

// TestAChatShowsTheFiguresOfATurn demands that an adapter without state passes all checks in a
// turn that a message of the user divides: if its last text was retracted, the chat had no
// figures of it.
func TestAChatShowsTheFiguresOfATurn(t *testing.T) {
	passesAll(t, "without-state", "turn/steer-during-a-tool")
}

// passesAll runs an adapter against all checks on one scenario, with all faults: at one place
// each, or at all places if the whole matrix runs.
func passesAll(t *testing.T, adapter, scenario string) {
	t.Helper()
	i := slices.IndexFunc(different.All(), func(a different.Adapter) bool { return a.Name == adapter })
	a := different.All()[i]
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: fixtures.Embedded(), Cases: []string{scenario}, Checks: backend.Checks(), Exhaustive: racesample.Whole(), Places: 1, Seed: 1,
		Tiers:    []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden},
		Subjects: []conformance.Subject{a.Subject(backend.Adapter("codex", codex.New())), a.Subject(backend.Adapter("claude", claude.New()))},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(judge(t, a, rep.Results)).To(BeNumerically(">", 50))
}

// mendedResults returns the results of a check on all cases of a scenario.
func mendedResults(t *testing.T, check, scenario, adapter string) []conformance.Result {
	t.Helper()
	i := slices.IndexFunc(different.All(), func(a different.Adapter) bool { return a.Name == adapter })
	if i < 0 {
		t.Fatalf("there is no adapter %s", adapter)
	}
	a := different.All()[i]
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: fixtures.Embedded(), Cases: []string{scenario}, Checks: []*conformance.Check{named(t, check)}, KeepRuns: true,
		Subjects: []conformance.Subject{a.Subject(backend.Adapter("codex", codex.New())), a.Subject(backend.Adapter("claude", claude.New()))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rep.Results
}

func named(t *testing.T, id string) *conformance.Check {
	t.Helper()
	found, err := backend.Named(id)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d checks, %v", id, len(found), err)
	}
	return found[0]
}

func describe(r conformance.Result) string {
	texts := []string{string(r.Verdict), r.Reason}
	for _, p := range r.Problems {
		texts = append(texts, p.Text+p.Diff)
	}
	return strings.Join(texts, "; ")
}
