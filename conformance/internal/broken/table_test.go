package broken_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
)

// tableFile lists what each broken adapter fails, one failure a line: the adapter, the check,
// the runtime, the scenario, and the fault if it takes one.
const tableFile = "testdata/matrix.txt"

// failure is a check that a broken adapter fails on a runtime, and the cheapest run in which
// it fails.
type failure struct {
	Adapter, Check, Runtime, Scenario string
	Fault                             string // "": none
}

func (f failure) String() string {
	return strings.TrimSpace(strings.Join([]string{f.Adapter, f.Check, f.Runtime, f.Scenario, f.Fault}, " "))
}

// rewrite is how the lines of an adapter are written again.
func rewrite(adapter string) string {
	return fmt.Sprintf("`go test ./conformance/internal/broken -run 'TestMatrix/of/%s$' -update` writes its lines in %s again", adapter, tableFile)
}

// readTable returns the lines of the table, by adapter.
func readTable(t *testing.T) map[string][]failure {
	t.Helper()
	b, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]failure{}
	for line := range strings.Lines(string(b)) {
		words := append(strings.Fields(line), "")
		if len(words) != 5 && len(words) != 6 {
			t.Fatalf("%s: %q is not an adapter, a check, a runtime, a scenario and a fault", tableFile, line)
		}
		out[words[0]] = append(out[words[0]], failure{words[0], words[1], words[2], words[3], words[4]})
	}
	return out
}

// writeTable writes the lines of the broken adapters that exist.
func writeTable(t *testing.T, table map[string][]failure) {
	t.Helper()
	var lines []string
	for _, a := range checks.Broken() {
		for _, f := range table[a.Name] {
			lines = append(lines, f.String()+"\n")
		}
	}
	slices.Sort(lines)
	if err := os.WriteFile(tableFile, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// failsAsListed runs a broken adapter on what its lines in the table name.
func failsAsListed(t *testing.T, cfg conformance.Config, jobs []runner.Job, a broken.Adapter, lines []failure) {
	t.Helper()
	listed := map[string]bool{} // runtime and check
	byRun := map[[2]string][]failure{}
	for _, f := range lines {
		listed[f.Runtime+" "+f.Check] = true
		k := [2]string{f.Runtime, f.Scenario}
		byRun[k] = append(byRun[k], f)
	}
	for k, lines := range byRun {
		i := slices.IndexFunc(jobs, func(j runner.Job) bool { return j.Subject.Runtime() == k[0] && j.Case.Scenario == k[1] })
		if i < 0 {
			t.Errorf("%s has no case of %s; %s", k[0], k[1], rewrite(a.Name))
			continue
		}
		j := jobs[i]
		j.Subject = a.Subject(j.Subject)
		results := runWith(t, cfg, j, faultsOf(lines))
		for _, f := range lines {
			if !slices.ContainsFunc(results, func(r conformance.Result) bool { return r.Check.ID == f.Check && failsWith(r, f.Fault) }) {
				t.Errorf("does not fail as listed: %s; %s", f, rewrite(a.Name))
			}
		}
		for _, r := range results {
			judgePlaces(t, r)
			if r.Verdict == conformance.Fail && !listed[k[0]+" "+r.Check.ID] {
				t.Errorf("fails %s on %s, which %s does not list; %s", r.Check.ID, r.Case, tableFile, rewrite(a.Name))
			}
		}
	}
}

// faultsOf returns the faults of lines of the table.
func faultsOf(lines []failure) []string {
	names := map[string]bool{}
	for _, f := range lines {
		if f.Fault != "" {
			names[f.Fault] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// runWith runs a job with some faults, and without one.
func runWith(t *testing.T, cfg conformance.Config, j runner.Job, faults []string) []conformance.Result {
	t.Helper()
	j.WithoutFaults = len(faults) == 0
	cfg.Faults = nil
	for _, name := range faults {
		cfg.Faults = append(cfg.Faults, conformance.FaultAt{Name: name})
	}
	results, _, err := runner.Do(cfg, j)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// compareFailures demands that an adapter fails the checks that the table lists, and no other.
func compareFailures(t *testing.T, got, listed []failure) {
	t.Helper()
	for _, f := range got {
		if !slices.ContainsFunc(listed, f.sameAs) {
			t.Errorf("%s is not in %s; %s", f, tableFile, rewrite(f.Adapter))
		}
	}
	for _, f := range listed {
		if !slices.ContainsFunc(got, f.sameAs) {
			t.Errorf("does not fail as listed: %s; %s", f, rewrite(f.Adapter))
		}
	}
}

// sameAs reports whether two lines list the same check on the same runtime.
func (f failure) sameAs(g failure) bool {
	return f.Adapter == g.Adapter && f.Check == g.Check && f.Runtime == g.Runtime
}

// TestReferencesPass demands that the references pass where the table says that a broken
// adapter fails.
func TestReferencesPass(t *testing.T) {
	cfg := matrixConfig()
	cfg.Cases = proving(t)
	if quick() {
		cfg.Cases = cfg.Cases[:4]
	}
	jobs, err := runner.Jobs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	byJob := map[[2]string][]failure{}
	for _, lines := range readTable(t) {
		for _, f := range lines {
			k := [2]string{f.Runtime, f.Scenario}
			byJob[k] = append(byJob[k], f)
		}
	}
	for _, j := range jobs {
		t.Run(j.Case.ID, func(t *testing.T) {
			t.Parallel()
			lines := byJob[[2]string{j.Subject.Runtime(), j.Case.Scenario}]
			for _, r := range runWith(t, cfg, j, faultsOf(lines)) {
				if r.Verdict.Bad() {
					t.Errorf("the reference does not pass %s: %s %v", r.Check.ID, r.Verdict, r.Problems)
				}
			}
		})
	}
}

// TestTable demands that the table lists what the broken adapters name, and that some adapter
// fails each check on each runtime.
func TestTable(t *testing.T) {
	table := readTable(t)
	proven := map[string]bool{} // runtime and check
	for _, a := range checks.Broken() {
		var lines []string
		for _, f := range table[a.Name] {
			lines = append(lines, f.Runtime+" "+f.Check)
			proven[f.Runtime+" "+f.Check] = true
		}
		slices.Sort(lines)
		if want := failures(a); !slices.Equal(lines, want) {
			t.Errorf("%s: %s lists %q, but it names %q in Fails and Only; %s", a.Name, tableFile, lines, want, rewrite(a.Name))
		}
		delete(table, a.Name)
	}
	for _, c := range checks.All() {
		if c.ServersOnly || c.ProgramsOnly {
			continue // broken servers in the tests of package sse fail it
		}
		for _, ref := range references() {
			runtime := ref.Runtime()
			if only, ok := alone[c.ID]; (!ok || runtime == only) && !proven[runtime+" "+c.ID] {
				t.Errorf("no broken adapter fails %s on %s: a check that cannot fail proves nothing", c.ID, runtime)
			}
		}
	}
	for name := range table {
		t.Errorf("%s names %s, which is no broken adapter; remove its lines", tableFile, name)
	}
}

// failures returns the runtimes and checks that a broken adapter names, sorted.
func failures(a broken.Adapter) []string {
	var out []string
	for _, ref := range references() {
		for _, id := range a.Fails {
			if runtime := ref.Runtime(); (a.Runtime == "" || a.Runtime == runtime) && (a.Only[id] == "" || a.Only[id] == runtime) {
				out = append(out, runtime+" "+id)
			}
		}
	}
	slices.Sort(out)
	return out
}
