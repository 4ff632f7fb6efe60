package broken_test

import (
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

func references() []conformance.Subject {
	return []conformance.Subject{conformance.Adapter("codex", codex.New()), conformance.Adapter("claude", claude.New())}
}

// whole says that all broken adapters are played, which takes minutes: `make
// matrix` does, and so the nightly run. What `go test` plays are the few that
// cover all checks.
func whole() bool { return os.Getenv("TURNSPEC_MATRIX") == "whole" }

// quick says that some plays are enough: they look for races, or are to be over
// soon. What fails in few cases is not all that an adapter fails.
func quick() bool { return !whole() && (racesample.Enabled || testing.Short()) }

// played are the broken adapters that a run plays.
func played() []broken.Adapter {
	switch all := checks.Broken(); {
	case whole():
		return all
	case quick():
		return []broken.Adapter{all[0], all[len(all)/2], all[len(all)-1]}
	default:
		return covering(all)
	}
}

// covering are few adapters of which one fails each check on each runtime: the
// one that fails most of what is left comes first.
func covering(all []broken.Adapter) []broken.Adapter {
	left := map[string]bool{} // runtime and check
	for _, a := range all {
		for _, what := range failures(a) {
			left[what] = true
		}
	}
	var out []broken.Adapter
	for len(left) > 0 {
		best, most := 0, 0
		for i, a := range all {
			n := 0
			for _, what := range failures(a) {
				if left[what] {
					n++
				}
			}
			if n > most {
				best, most = i, n
			}
		}
		out = append(out, all[best])
		for _, what := range failures(all[best]) {
			delete(left, what)
		}
	}
	return out
}

// failures are the runtimes and checks that a broken adapter names.
func failures(a broken.Adapter) []string {
	var out []string
	for _, ref := range references() {
		for _, id := range a.Fails {
			if runtime := ref.Runtime(); (a.Runtime == "" || a.Runtime == runtime) && (a.Only[id] == "" || a.Only[id] == runtime) {
				out = append(out, runtime+" "+id)
			}
		}
	}
	return out
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // a play leaves much behind, and little of it lives
	os.Exit(m.Run())
}

// places bounds the places of each fault: the matrix asks which checks fail,
// not where.
const places = 2

// proof are the scenarios that the matrix runs: all that it takes to prove each
// check, so that its cost does not grow with the corpus. A new check that none
// of them exercises brings the smallest scenario that does.
var proof = []string{
	"client/closed-while-a-tool-runs",
	"client/stopped-while-a-tool-runs",
	"client/tool-fails",
	"component/shown-changed-and-removed",
	"component/tool-linked",
	"file/write-and-edit",
	"hook/adds-to-a-message",
	"image/sent-with-a-message",
	"mcp/answers",
	"model/cut-in-mid-text-then-retried",
	"model/error-ends-the-turn",
	"mode/changed-between-turns",
	"permission/allow",
	"permission/answer-comes-late",
	"permission/deny-then-stop",
	"policy/chained",
	"policy/denied-write",
	"policy/not-understood",
	"process/bad-flag",
	"process/sigterm-when-idle",
	"schema/tool-call",
	"session/archived-is-not-resumed",
	"session/fork-with-tools",
	"question/one",
	"session/opened-with-a-model",
	"session/another-thread-talks",
	"session/resume-in-a-new-process",
	"session/resume-of-an-unknown-id",
	"stop/mid-text",
	"stop/mid-tool",
	"stop/then-next-turn",
	"subagent/ends-while-the-parent-talks",
	"subagent/in-the-foreground",
	"subagent/outlives-the-turn",
	"subagent/two-beside-the-turn",
	"subagent/waited-for",
	"text/plain",
	"text/unicode-and-markdown",
	"thinking/then-text",
	"tool/background-outlives-turn",
	"tool/output-while-it-runs",
	"tool/parallel",
	"tool/text-tool-text-three-rounds",
	"turn/message-during-a-tool",
	"turn/steer",
	"turn/two-messages-during-a-turn",
	"turn/two-messages-into-a-turn",
	"turn/two-turns-one-process",
	"usage/of-reasoning",
	"web/opens-a-page",
}

// struck are the scenarios of proof in which `go test` tries faults: those that it
// takes for each fault that a check wants to be seen. In the others a fault shows
// the same again; the whole matrix tries it there too.
var struck = []string{
	"client/stopped-while-a-tool-runs",
	"client/tool-fails",
	"mode/changed-between-turns",
	"permission/allow",
	"permission/deny-then-stop",
	"session/another-thread-talks",
	"session/archived-is-not-resumed",
	"session/resume-of-an-unknown-id",
	"stop/then-next-turn",
	"subagent/ends-while-the-parent-talks",
	"subagent/two-beside-the-turn",
	"subagent/waited-for",
	"text/plain",
	"thinking/then-text",
	"tool/parallel",
}

// alone are the checks that one runtime's wire alone can exercise.
var alone = map[string]string{
	"session.archive-closes":     "codex", // claude's sessions are files
	"session.concurrent-threads": "codex", // a process of claude is one session
	"turn.steer":                 "codex", // claude takes a message in between by itself
	"tool.streamed":              "codex", // claude tells a command's output when it has ended
	"tool.web-search":            "codex", // claude tells the query when a search begins
}

// proving are the cases of these scenarios on the newest version of each
// runtime.
func proving(t *testing.T) []string {
	t.Helper()
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(fixtures.Newest(all), func(id string) bool {
		runtime, _, scenario := fixtures.SplitCaseID(id)
		return !slices.Contains(proof, scenario) || !slices.ContainsFunc(references(), func(s conformance.Subject) bool { return s.Runtime() == runtime })
	})
}

// seen is what the matrix found: which checks an adapter fails, on which
// runtimes.
type seen struct {
	sync.Mutex
	adapters int
	failed   map[string]bool // runtime and check
	rows     []string
}

// TestMatrix runs every broken adapter against every check: it fails exactly
// the checks that it names, and every check is failed by one of them.
// TestMatrix/NAME looks at one adapter.
func TestMatrix(t *testing.T) {
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: references(), Checks: checks.All(), Cases: proving(t),
		Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden}, Reference: true, Places: places,
	}
	if quick() {
		cfg.Cases = racesample.Sample(cfg.Cases, 4)
	}
	jobs, err := runner.Jobs(cfg)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	all := seen{failed: map[string]bool{}}
	// One group, so that what follows it waits for all adapters.
	t.Run("of", func(t *testing.T) {
		for _, a := range played() {
			t.Run(a.Name, func(t *testing.T) {
				t.Parallel()
				row(t, cfg, jobs, a, &all)
			})
		}
	})
	if all.adapters == len(played()) && !quick() {
		proven(t, &all)
	}
	if testing.Verbose() {
		slices.Sort(all.rows)
		_, _ = fmt.Fprintln(os.Stdout, strings.Join(all.rows, "\n"))
	}
}

// row holds a broken adapter to all checks.
func row(t *testing.T, cfg conformance.Config, jobs []runner.Job, a broken.Adapter, all *seen) {
	t.Helper()
	failed := map[string][]string{} // check → runtimes
	for _, j := range jobs {
		runtime := j.Subject.Runtime()
		if a.Runtime != "" && a.Runtime != runtime {
			continue
		}
		j.Subject = a.Subject(j.Subject)
		j.WithoutFaults = !whole() && !slices.Contains(struck, j.Case.Scenario)
		results, _, err := runner.Do(cfg, j)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Verdict == conformance.Fail && !slices.Contains(failed[r.Check.ID], runtime) {
				failed[r.Check.ID] = append(failed[r.Check.ID], runtime)
			}
		}
	}
	got := slices.Sorted(maps.Keys(failed))
	want := slices.Sorted(slices.Values(a.Fails))
	if quick() { // in few cases only a part of it can show
		want = slices.DeleteFunc(want, func(id string) bool { return failed[id] == nil })
	}
	for _, id := range got {
		if quick() {
			break
		}
		if on := failed[id]; a.Runtime == "" && len(on) != len(references()) && !slices.Equal(on, []string{a.Only[id]}) {
			t.Errorf("fails %s on %v only, and does not say why", id, on)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("fails %v, want %v%s", failed, want, hint())
	}
	all.Lock()
	defer all.Unlock()
	all.adapters++
	all.rows = append(all.rows, fmt.Sprintf("%-26s %s", a.Name, strings.Join(got, " ")))
	for id, on := range failed {
		for _, runtime := range on {
			all.failed[runtime+" "+id] = true
		}
	}
}

// hint says where a row may differ from that of the whole matrix.
func hint() string {
	if whole() {
		return ""
	}
	return "; faults are tried in some scenarios only: if it fails in others, and `make matrix` passes, add one to struck"
}

// proven demands that each check is failed on each runtime.
func proven(t *testing.T, all *seen) {
	t.Helper()
	for _, c := range checks.All() {
		for _, ref := range references() {
			if only, ok := alone[c.ID]; ok && ref.Runtime() != only {
				continue
			}
			if !all.failed[ref.Runtime()+" "+c.ID] {
				t.Errorf("no broken adapter fails %s on %s: a check that cannot fail proves nothing%s", c.ID, ref.Runtime(), hint())
			}
		}
	}
}

// TestFailsNames: a misspelt check in Fails would never be noticed.
func TestFailsNames(t *testing.T) {
	var ids []string
	for _, c := range checks.All() {
		ids = append(ids, c.ID)
	}
	seen := map[string]bool{}
	for _, a := range checks.Broken() {
		if seen[a.Name] {
			t.Errorf("two broken adapters are called %s", a.Name)
		}
		seen[a.Name] = true
		if (a.Runtime == "") != (a.Why == "") {
			t.Errorf("%s: shows on %q, because %q", a.Name, a.Runtime, a.Why)
		}
		for _, f := range a.Fails {
			if !slices.Contains(ids, f) {
				t.Errorf("%s: fails %q, which is no check", a.Name, f)
			}
		}
	}
}
