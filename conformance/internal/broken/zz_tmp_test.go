package broken_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fixtures"
)

func TestZZ(t *testing.T) {
	ids := []string{"turn.lost-end", "turn.nothing-after-terminal", "permission.unsupported-request", "session.resume-unknown", "turn.error-is-error"}
	some, err := checks.Named(ids...)
	if err != nil {
		t.Fatal(err)
	}
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: references(), Checks: some, Cases: proving(t),
		Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming}, Places: places,
	}
	jobs, err := cfg.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	work := make(chan broken.Adapter)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for a := range work {
				failed := map[string][]string{}
				for _, j := range jobs {
					runtime := j.Subject.Runtime()
					if a.Runtime != "" && a.Runtime != runtime {
						continue
					}
					j.Subject = a.Subject(j.Subject)
					results, _, err := cfg.Do(j)
					if err != nil {
						t.Error(err)
					}
					for _, r := range results {
						if r.Verdict == conformance.Fail && !slices.Contains(failed[r.Check.ID], runtime) {
							failed[r.Check.ID] = append(failed[r.Check.ID], runtime)
						}
					}
				}
				for _, id := range ids {
					want := slices.Contains(a.Fails, id)
					mu.Lock()
					if on := failed[id]; want != (len(on) > 0) || len(on) == 1 && a.Runtime == "" && a.Only[id] != on[0] || len(on) == 2 && a.Only[id] != "" {
						fmt.Fprintln(os.Stderr, "DIFF", a.Name, id, "failed on", on, "Fails", want, "Only", a.Only[id])
					}
					mu.Unlock()
				}
				_ = maps.Keys(failed)
				fmt.Fprintln(os.Stderr, "done", a.Name)
			}
		}()
	}
	for _, a := range broken.All() {
		work <- a
	}
	close(work)
	wg.Wait()
}
