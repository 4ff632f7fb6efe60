package broken_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
)

// tableFile is the table of broken.Failures.
const tableFile = "testdata/matrix.txt"

// rewrite is how the lines of an adapter are written again.
func rewrite(adapter string) string {
	return fmt.Sprintf("`go test ./conformance/internal/broken -run 'TestMatrix/of/%s$' -update` writes its lines in %s again", adapter, tableFile)
}

// readTable returns the lines of the table, by adapter.
func readTable(t *testing.T) map[string][]failure {
	t.Helper()
	table, err := broken.Failures()
	if err != nil {
		t.Fatal(err)
	}
	return maps.Clone(table)
}

type failure = broken.Failure

// writeTable writes the lines of the broken adapters that exist.
func writeTable(t *testing.T, table map[string][]failure) {
	t.Helper()
	var lines []string
	for _, a := range backend.Broken() {
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
		if !listedIn(listed, f) {
			t.Errorf("%s is not in %s; %s", f, tableFile, rewrite(f.Adapter))
		}
	}
	for _, f := range listed {
		if !listedIn(got, f) {
			t.Errorf("does not fail as listed: %s; %s", f, rewrite(f.Adapter))
		}
	}
}

// listedIn reports whether lines list the check on the runtime for the adapter.
func listedIn(lines []failure, f failure) bool {
	return slices.ContainsFunc(lines, func(g failure) bool {
		return f.Adapter == g.Adapter && f.Check == g.Check && f.Runtime == g.Runtime
	})
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

// TestTable demands that each adapter fails the check that it proves, on each runtime that
// shows its defect, and that some adapter fails each check on each runtime.
func TestTable(t *testing.T) {
	table := readTable(t)
	var ids []string
	for _, c := range backend.Checks() {
		ids = append(ids, c.ID)
	}
	proven := map[string]bool{} // runtime and check
	for _, a := range backend.Broken() {
		failed := map[string]bool{} // runtimes on which it fails what it proves
		for _, f := range table[a.Name] {
			proven[f.Runtime+" "+f.Check] = true
			failed[f.Runtime] = failed[f.Runtime] || f.Check == a.Proves
			if !slices.Contains(ids, f.Check) {
				t.Errorf("%q names no check; %s", f, rewrite(a.Name))
			}
			if a.Runtime != "" && f.Runtime != a.Runtime {
				t.Errorf("%q: the defect is that of %s; %s", f, a.Runtime, rewrite(a.Name))
			}
		}
		if a.Runtime != "" && !failed[a.Runtime] || !slices.Contains(slices.Collect(maps.Values(failed)), true) {
			t.Errorf("%s proves %s, which it does not fail; %s", a.Name, a.Proves, rewrite(a.Name))
		}
		delete(table, a.Name)
	}
	for _, c := range backend.Checks() {
		if c.ServersOnly || c.ProgramsOnly {
			continue // broken servers in the tests of package sse fail it
		}
		for _, ref := range references() {
			runtime := ref.Runtime()
			if mustProve(c.ID, runtime) && !proven[runtime+" "+c.ID] {
				t.Errorf("no broken adapter fails %s on %s: a check that cannot fail proves nothing", c.ID, runtime)
			}
		}
	}
	for name := range table {
		t.Errorf("%s names %s, which is no broken adapter; remove its lines", tableFile, name)
	}
}
