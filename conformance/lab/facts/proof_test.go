package facts_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// tally counts the cases in which a fact was made false, and in which checks failed.
type tally struct {
	tried, noticed int
	by             map[string]int // check → cases
}

// TestJudgesFail demands that each check fails in some case when a fact that it judges
// is false.
func TestJudgesFail(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays most of the corpus")
	}
	all := facts.All(backend.Checks())
	tallies := make([]tally, len(all))
	for i := range tallies {
		tallies[i].by = map[string]int{}
	}
	var mu sync.Mutex
	pending := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return racesample.Whole() || slices.ContainsFunc(all, func(f facts.Fact) bool {
			return len(unproven(f, &tallies[slices.IndexFunc(all, func(g facts.Fact) bool { return g.Name == f.Name })])) > 0
		})
	}
	ids := caseIDs(t)
	err := worker.Each(t.Context(), 0, len(ids), func(i int) error {
		if !pending() {
			return nil
		}
		run, err := facts.Play(fixtures.Embedded(), references(), ids[i])
		if run == nil || err != nil {
			return err
		}
		fails := map[*conformance.Check]bool{} // on the recording as it is
		broken := func(c *conformance.Check) bool {
			if _, judged := fails[c]; !judged {
				fails[c] = facts.Fails(c, run)
			}
			return fails[c]
		}
		for k, f := range all {
			mu.Lock()
			tried := unproven(f, &tallies[k])
			mu.Unlock()
			if racesample.Whole() {
				tried = backend.Checks()
			}
			if len(tried) == 0 {
				continue
			}
			failed := map[string]bool{}
			occurs := false
			for _, altered := range facts.Falsified(run, f) {
				occurs = true
				for _, c := range tried {
					if !broken(c) && facts.Fails(c, altered.Run) {
						failed[c.ID] = true
					}
				}
			}
			mu.Lock()
			tallies[k].add(occurs, failed)
			mu.Unlock()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range all {
		for _, c := range unproven(f, &tallies[k]) {
			t.Errorf("%s judges %s, but fails in no case when it is false", c.ID, f.Name)
		}
		if racesample.Whole() && tallies[k].tried > 0 {
			_, _ = fmt.Fprintf(os.Stdout, "%-40s noticed in %3d of %3d cases: %v\n", f.Name, tallies[k].noticed, tallies[k].tried, tallies[k].by)
		}
	}
}

func (t *tally) add(occurs bool, failed map[string]bool) {
	if occurs {
		t.tried++
	}
	if len(failed) > 0 {
		t.noticed++
	}
	for id := range failed {
		t.by[id]++
	}
}

// unproven returns the checks that judge a fact and have not failed.
func unproven(f facts.Fact, t *tally) []*conformance.Check {
	return slices.DeleteFunc(backend.Checks(), func(c *conformance.Check) bool { return !slices.Contains(f.Checks, c.ID) || t.by[c.ID] > 0 })
}
