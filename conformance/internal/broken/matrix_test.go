package broken_test

import (
	"cmp"
	"flag"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/adapters/chat"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// references returns the adapters that are broken. That of chat completions is broken only in
// what no other adapter does.
func references() []conformance.Subject {
	return []conformance.Subject{backend.Adapter("codex", codex.New()), backend.Adapter("claude", claude.New()), backend.Adapter(onlyAlone, chat.New())}
}

// onlyAlone is a runtime on which an adapter is broken only if it names it.
const onlyAlone = "chat"

// quick reports whether a few runs are enough, because the test looks for races or
// must be short.
func quick() bool { return !racesample.Whole() && (racesample.Enabled || testing.Short()) }

// played returns the broken adapters that this test runs.
func played() []broken.Adapter {
	all := backend.Broken()
	if quick() {
		return []broken.Adapter{all[0], all[len(all)/2], all[len(all)-1]}
	}
	return all
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400)       // a run allocates much, and most of it is garbage
	debug.SetMemoryLimit(3 << 30) // a small machine has that
	os.Exit(m.Run())
}

// places limits the places of each fault, because the matrix compares which checks
// fail, not where.
const places = 2

// alsoOn names scenarios for adapters whose check no scenario of the table exercises yet.
var alsoOn = flag.String("on", "", "further scenarios, parted by commas, on which TestMatrix runs the adapters whole")

// proof returns the scenarios that the matrix runs: those that the table names. They are enough
// to prove each check, so that the cost does not grow with the corpus.
func proof(t *testing.T) []string {
	t.Helper()
	names := map[string]bool{}
	for _, lines := range readTable(t) {
		for _, f := range lines {
			names[f.Scenario] = true
		}
	}
	for name := range strings.SplitSeq(*alsoOn, ",") {
		names[name] = true
	}
	return slices.Collect(maps.Keys(names))
}

// provenElsewhere lists the checks that no adapter of the matrix is written for, with the only
// runtime whose wire can exercise them.
var provenElsewhere = map[string]string{
	"turn.retries-end": "opencode", // the others have a limit themselves; TestTraps proves it
	"turn.steer":       "codex",    // Claude Code injects a message into a turn by itself
}

// mustProve reports whether some broken adapter must fail the check on the runtime. If only
// the wire of some runtimes can show the defects that prove it, these are enough.
func mustProve(check, runtime string) bool {
	if only, ok := provenElsewhere[check]; ok {
		return runtime == only
	}
	proving, everywhere := 0, false
	for _, a := range backend.Broken() {
		if a.Proves != check {
			continue
		}
		if a.Runtime == runtime {
			return true
		}
		proving++
		everywhere = everywhere || a.Runtime == ""
	}
	return (everywhere || proving == 0) && runtime != onlyAlone
}

// proving returns the cases of the scenarios of proof, on the newest version of each
// runtime.
func proving(t *testing.T) []string {
	t.Helper()
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	run := proof(t)
	return slices.DeleteFunc(fixtures.Newest(all), func(id string) bool {
		runtime, _, scenario := fixtures.SplitCaseID(id)
		return !slices.Contains(run, scenario) || !slices.ContainsFunc(references(), func(s conformance.Subject) bool { return s.Runtime() == runtime })
	})
}

// matrixConfig returns the configuration of all runs of the matrix.
func matrixConfig() conformance.Config {
	return conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: references(), Checks: backend.Checks(), Places: places,
		Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden},
	}
}

// TestMatrix runs broken adapters against the checks. It demands that each adapter fails the
// checks that the table lists, where the table says, and no check that the table does not
// list. With TURNSPEC_MATRIX=whole it runs each adapter on all scenarios of proof, with all
// faults; -update does so too, and writes the table. TestMatrix/of/NAME runs one adapter.
func TestMatrix(t *testing.T) {
	cfg := matrixConfig()
	cfg.Cases = proving(t)
	jobs, err := runner.Jobs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	table := readTable(t)
	var mu sync.Mutex
	found := map[string][]failure{} // adapter → what it fails
	// One group, so that the code after it runs when all adapters are done.
	t.Run("of", func(t *testing.T) {
		for _, a := range played() {
			t.Run(a.Name, func(t *testing.T) {
				t.Parallel()
				if !racesample.Whole() && !*update {
					failsAsListed(t, cfg, jobs, a, table[a.Name])
					return
				}
				failed := runWhole(t, cfg, jobs, a)
				if !*update {
					compareFailures(t, failed, table[a.Name])
				}
				mu.Lock()
				defer mu.Unlock()
				found[a.Name] = failed
			})
		}
	})
	if *update && !t.Failed() {
		maps.Copy(table, found)
		writeTable(t, table)
	}
}

// runWhole runs a broken adapter on all jobs of its runtimes, without faults and with all of
// them. It returns the checks that it fails, each with the cheapest run that shows it: the
// smallest case without a fault, else the smallest with one.
func runWhole(t *testing.T, cfg conformance.Config, jobs []runner.Job, a broken.Adapter) []failure {
	t.Helper()
	type at struct{ check, runtime string }
	plain, faulted := map[at]failure{}, map[at]failure{}
	for _, j := range cheapestFirst(jobs) {
		runtime := j.Subject.Runtime()
		if a.Runtime != runtime && (a.Runtime != "" || runtime == onlyAlone) {
			continue
		}
		j.Subject = a.Subject(j.Subject)
		for _, withFaults := range []bool{false, true} {
			j.WithoutFaults = !withFaults
			results, _, err := runner.Do(cfg, j)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				judgePlaces(t, r)
				best, fault := plain, ""
				if withFaults {
					best, fault = faulted, firstFault(r)
				}
				k := at{r.Check.ID, runtime}
				if _, have := best[k]; !have && failsWith(r, fault) {
					best[k] = failure{a.Name, r.Check.ID, runtime, j.Case.Scenario, fault}
				}
			}
		}
	}
	maps.Copy(faulted, plain)
	return slices.Collect(maps.Values(faulted))
}

// cheapestFirst returns the jobs by the size of what they play.
func cheapestFirst(jobs []runner.Job) []runner.Job {
	size := func(j runner.Job) (n int) {
		for _, l := range j.Case.Wire {
			n += len(l.Bytes)
		}
		return n
	}
	return slices.SortedStableFunc(slices.Values(jobs), func(a, b runner.Job) int { return cmp.Compare(size(a), size(b)) })
}

// firstFault returns the first of a check's faults with which it failed, or "".
func firstFault(r conformance.Result) string {
	i := slices.IndexFunc(r.Check.Faults, func(name string) bool { return failsWith(r, name) })
	if i < 0 {
		return ""
	}
	return r.Check.Faults[i]
}

// failsWith reports whether a check failed in a run with a fault, or in one without if the
// name is "".
func failsWith(r conformance.Result, fault string) bool {
	return r.Verdict == conformance.Fail && slices.ContainsFunc(r.Problems, func(p conformance.Problem) bool {
		if p.Fault == nil {
			return fault == ""
		}
		name, _, _ := strings.Cut(p.Fault.Operator, "(") // that of a seed follows
		return name == fault
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

// TestNames demands that the names of the adapters are unique, and that one that only one
// runtime shows says why.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range backend.Broken() {
		if seen[a.Name] {
			t.Errorf("two broken adapters are called %s", a.Name)
		}
		seen[a.Name] = true
		if (a.Runtime == "") != (a.Why == "") {
			t.Errorf("%s: Runtime is %q and Why is %q; set both or neither", a.Name, a.Runtime, a.Why)
		}
	}
}
