package different_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/different"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400)       // a run allocates much, and most of it is garbage
	debug.SetMemoryLimit(3 << 30) // a small machine has that
	os.Exit(m.Run())
}

// TestDifferent demands that correct adapters fail no check. It runs each adapter on
// a case of each sixteenth topic on each runtime, which are others for each adapter, and tries
// faults in a sixteenth of them; `make matrix` runs all cases.
func TestDifferent(t *testing.T) {
	var references []conformance.Subject
	for _, a := range reference.All() {
		references = append(references, backend.Adapter(a.Capabilities().Runtime, a))
	}
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range different.All() {
		if !racesample.Whole() && (racesample.Enabled || testing.Short()) && i%8 != 0 {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			cfg := conformance.Config{
				Corpus: fixtures.Embedded(), Checks: backend.Checks(), Places: 1, Seed: uint64(i + 1),
				Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden},
			}
			for _, r := range references {
				cfg.Subjects = append(cfg.Subjects, a.Subject(r))
			}
			if !racesample.Whole() {
				cfg.Cases = sample(ids, i)
			}
			jobs, err := runner.Jobs(cfg)
			if err != nil {
				t.Fatal(err)
			}
			passed := 0
			for n, j := range jobs {
				j.WithoutFaults = !racesample.Whole() && (n+i)%16 != 0
				results, _, err := runner.Do(cfg, j)
				if err != nil {
					t.Fatal(err)
				}
				passed += judge(t, a, results)
			}
			t.Logf("%d verdicts on %d cases pass", passed, len(jobs))
		})
	}
}

// judge reports the results that an adapter must not have, and returns how many pass.
func judge(t *testing.T, a different.Adapter, results []conformance.Result) (passed int) {
	t.Helper()
	for _, r := range results {
		switch {
		case r.Verdict == conformance.Fail && a.Delays && slices.Contains(different.DelayChecks, r.Check.ID):
		case r.Verdict.Bad(), r.Verdict == conformance.Unrecorded:
			var why []string
			for _, p := range r.Problems[:min(len(r.Problems), 2)] {
				why = append(why, p.Text+p.Diff)
			}
			t.Errorf("%s on %s: %s %s %s", r.Check.ID, r.Case, r.Verdict, r.Reason, strings.Join(why, "; "))
		case r.Verdict.Judged():
			passed++
		}
	}
	return passed
}

// sample returns a case of each sixteenth topic for each runtime, chosen by n.
func sample(ids []string, n int) []string {
	best := map[string]string{}
	rank := func(id string) uint32 {
		h := fnv.New32a()
		fmt.Fprint(h, n, id)
		return h.Sum32()
	}
	for _, id := range ids {
		runtime, _, scenario := fixtures.SplitCaseID(id)
		topic, _, _ := strings.Cut(scenario, "/")
		k := runtime + " " + topic
		if best[k] == "" || rank(id) < rank(best[k]) {
			best[k] = id
		}
	}
	var out []string
	for i, k := range slices.Sorted(maps.Keys(best)) {
		if (i+n)%16 == 0 {
			out = append(out, best[k])
		}
	}
	slices.Sort(out)
	return out
}
