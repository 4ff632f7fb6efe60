package broken_test

import (
	"cmp"
	"fmt"
	"hash/fnv"
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

// whole reports whether all broken adapters run, which takes minutes: `make matrix`
// and the nightly run set it. `go test` runs the few that cover all checks.
func whole() bool { return os.Getenv("TURNSPEC_MATRIX") == "whole" }

// quick reports whether a few runs are enough, because the test looks for races or
// must be short. An adapter does not fail all its checks in a few cases.
func quick() bool { return !whole() && (racesample.Enabled || testing.Short()) }

// played returns the broken adapters that this test runs.
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

// covering returns a small set of adapters so that one of them fails each check on
// each runtime. It repeatedly takes the adapter that fails most of the rest.
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

// failures returns the runtimes and checks that a broken adapter names.
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
	debug.SetGCPercent(400)       // a run allocates much, and most of it is garbage
	debug.SetMemoryLimit(3 << 30) // a small machine has that
	os.Exit(m.Run())
}

// places limits the places of each fault, because the matrix compares which checks
// fail, not where.
const places = 2

// proof lists the scenarios that the matrix runs. They are enough to prove each check,
// so that the cost does not grow with the corpus. If none of them exercises a new
// check, add the smallest scenario that does.
var proof = []string{
	"client/closed-while-a-tool-runs",
	"client/stopped-while-a-tool-runs",
	"client/tool-fails",
	"compaction/automatic-in-mid-turn",
	"component/shown-by-a-sub-agent",
	"component/shown-changed-and-removed",
	"component/state-is-projected",
	"component/tool-linked",
	"file/notebook-edited",
	"file/write-and-edit",
	"history/revert-the-last-turn",
	"history/rewind-files",
	"hook/adds-to-a-message",
	"image/sent-by-its-path",
	"image/sent-with-a-message",
	"limit/turns",
	"list/mcp-server-that-failed",
	"list/models",
	"mcp/answers",
	"mcp/gives-an-image",
	"mcp/names-with-dashes-and-dots",
	"mcp/over-http-with-a-header",
	"mcp/two-tools-run-for-long",
	"model/cut-in-mid-text-then-retried",
	"model/error-ends-the-turn",
	"mode/changed-between-turns",
	"mode/unknown-mode-refused",
	"permission/allow",
	"permission/answer-comes-late",
	"permission/deny-then-stop",
	"permission/deny-with-a-message",
	"plan/approved",
	"plan/approved-with-its-text",
	"plan/steps-are-ticked-off",
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
	"session/opened-with-an-effort",
	"session/opened-with-further-folders",
	"session/opened-with-other-instructions",
	"session/opened-with-user-settings",
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
	"tool/format-characters-in-an-input",
	"text/multi-byte-over-the-read-buffer",
	"text/plain",
	"text/unicode-and-markdown",
	"thinking/then-text",
	"tool/background-outlives-turn",
	"tool/output-while-it-runs",
	"tool/output-of-a-hundred-kilobytes",
	"tool/parallel",
	"tool/shell-cd-and-cat",
	"tool/text-tool-text-three-rounds",
	"turn/message-during-a-tool",
	"turn/steer",
	"turn/two-messages-during-a-turn",
	"turn/two-messages-into-a-turn",
	"turn/two-turns-one-process",
	"usage/of-reasoning",
	"usage/of-two-turns",
	"web/fetch-without-a-network",
	"web/opens-a-page",
}

// struck lists the scenarios of proof in which `go test` tries faults: enough that
// each check meets each of its faults. In the others a fault gives the same result;
// the whole matrix tries it there too. An adapter that has shown its failures tries
// faults in half of them.
var struck = []string{
	"client/stopped-while-a-tool-runs",
	"client/tool-fails",
	"mode/changed-between-turns",
	"permission/allow",
	"permission/answer-comes-late",
	"permission/deny-then-stop",
	"policy/denied-write",
	"session/another-thread-talks",
	"session/archived-is-not-resumed",
	"session/resume-of-an-unknown-id",
	"stop/then-next-turn",
	"subagent/ends-while-the-parent-talks",
	"subagent/two-beside-the-turn",
	"subagent/waited-for",
	"text/multi-byte-over-the-read-buffer",
	"text/plain",
	"text/unicode-and-markdown",
	"thinking/then-text",
	"tool/format-characters-in-an-input",
	"tool/parallel",
}

// alone lists the checks that only the wire of one runtime can exercise. TestTraps proves
// those of a runtime that this matrix has no adapter of.
var alone = map[string]string{
	"question.plan-approval":     "claude",   // Codex does not ask the user to approve a plan
	"session.archive-closes":     "codex",    // Claude Code's sessions are files
	"session.concurrent-threads": "codex",    // a process of Claude Code is one session
	"turn.retries-end":           "opencode", // the others have a limit themselves
	"turn.steer":                 "codex",    // Claude Code injects a message into a turn by itself
	"tool.streamed":              "codex",    // Claude Code reports a command's output when it has ended
	"turn.provider-id":           "codex",    // Claude Code does not name its turns
	"tool.input-streamed":        "claude",   // Codex does not stream the inputs of tools
	"tool.input-whole":           "claude",   // likewise
	"tool.progress":              "claude",   // Codex states nothing about a tool that runs
	"tool.truncated":             "claude",   // Codex states it in the output alone
}

// proving returns the cases of the scenarios in proof, on the newest version of each
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

// seen collects the results of the matrix: the failed checks, by runtime.
type seen struct {
	sync.Mutex
	adapters int
	failed   map[string]bool // runtime and check
	rows     []string
}

// TestMatrix runs broken adapters against all checks. It demands that each adapter
// fails exactly the checks that it names, and that at least one adapter fails each
// check. TestMatrix/of/NAME runs one adapter.
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
	// One group, so that the code after it runs when all adapters are done.
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

// row runs a broken adapter against all checks.
func row(t *testing.T, cfg conformance.Config, jobs []runner.Job, a broken.Adapter, all *seen) {
	t.Helper()
	failed := map[string][]string{} // check → runtimes
	tried := map[string]int{}       // runtime → jobs that tried faults
	for _, j := range ordered(jobs, a.Name) {
		runtime := j.Subject.Runtime()
		if a.Runtime != "" && a.Runtime != runtime {
			continue
		}
		j.Subject = a.Subject(j.Subject)
		if !whole() {
			j.WithoutFaults = !slices.Contains(struck, j.Case.Scenario) || tried[runtime] >= len(struck)/2 && failsAll(a, runtime, failed)
		}
		if !j.WithoutFaults {
			tried[runtime]++
		}
		results, _, err := runner.Do(cfg, j)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Verdict == conformance.Fail && !slices.Contains(failed[r.Check.ID], runtime) {
				failed[r.Check.ID] = append(failed[r.Check.ID], runtime)
			}
			judgePlaces(t, r)
		}
	}
	got := slices.Sorted(maps.Keys(failed))
	want := slices.Sorted(slices.Values(a.Fails))
	if quick() { // few cases show only some of the failures
		want = slices.DeleteFunc(want, func(id string) bool { return failed[id] == nil })
	}
	for _, id := range got {
		if quick() {
			break
		}
		if on := failed[id]; a.Runtime == "" && len(on) != len(references()) && !slices.Equal(on, []string{a.Only[id]}) {
			t.Errorf("fails %s on %v only; add it to Only, with the reason", id, on)
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

// ordered returns the jobs in the order in which the named adapter runs them: first those
// that try no faults, then the others, shuffled by the name. So the adapters stop trying
// faults at different jobs, and together they try all of struck.
func ordered(jobs []runner.Job, name string) []runner.Job {
	rank := func(j runner.Job) uint64 {
		if !slices.Contains(struck, j.Case.Scenario) {
			return 0
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(name + j.Case.ID)) // it never fails
		return h.Sum64() | 1
	}
	return slices.SortedStableFunc(slices.Values(jobs), func(a, b runner.Job) int { return cmp.Compare(rank(a), rank(b)) })
}

// failsAll reports whether an adapter has failed each check on a runtime that it names.
func failsAll(a broken.Adapter, runtime string, failed map[string][]string) bool {
	return !slices.ContainsFunc(a.Fails, func(id string) bool {
		return (a.Only[id] == "" || a.Only[id] == runtime) && !slices.Contains(failed[id], runtime)
	})
}

// judgePlaces demands that a report can show where on the wire a check failed under a fault: at
// the line of the fault, or at an event if the fault changes all lines.
func judgePlaces(t *testing.T, r conformance.Result) {
	t.Helper()
	for _, p := range r.Problems {
		if p.Fault != nil && p.Seq == 0 && p.Line == 0 && p.Fault.StartError == nil {
			t.Errorf("%s on %s has no place on the wire: %s", r.Check.ID, r.Case, p.Text)
		}
	}
}

// hint returns why a row may differ from that of the whole matrix.
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
		if c.ServersOnly || c.ProgramsOnly {
			continue // broken servers in the tests of package sse fail it
		}
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

// TestFailsNames demands that Fails names existing checks, and that the names of the
// adapters are unique.
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
			t.Errorf("%s: Runtime is %q and Why is %q; set both or neither", a.Name, a.Runtime, a.Why)
		}
		for _, f := range a.Fails {
			if !slices.Contains(ids, f) {
				t.Errorf("%s: Fails names %q, which is not a check", a.Name, f)
			}
		}
	}
}
