package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// TestFaultsAreTriedInEachSituation counts where the faults of a run are tried.
func TestFaultsAreTriedInEachSituation(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it runs in one goroutine; it is run without the race detector")
	}
	g := NewWithT(t)
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{backend.Adapter("codex", codex.New())}, Checks: checks.All(),
		Cases: []string{"codex/newest/*"}, Seed: 1,
	}
	choose := func() ([]runner.Job, []runner.Chosen) {
		jobs, err := runner.Jobs(cfg)
		g.Expect(err).NotTo(HaveOccurred())
		return slices.DeleteFunc(slices.Clone(jobs), notPerformable), runner.ChosenPlaces(jobs)
	}
	jobs, once := choose()
	_, again := choose()
	g.Expect(again).To(Equal(once), "the same seed chooses the same places")
	cfg.Places = 2
	_, twice := choose()
	g.Expect(len(twice)).To(BeNumerically(">", len(once)))
	cfg.Places, cfg.Seed = 1, 2
	_, other := choose()
	g.Expect(other).NotTo(Equal(once), "another seed chooses others")
	cfg.Seed = 1

	cases := map[string]runner.Job{}
	for _, j := range jobs {
		cases[j.Case.ID] = j
	}
	tried := map[string]int{}
	key := func(c *fixtures.Case, op fault.Operator, situation string) string {
		return fmt.Sprint(c.Version, " ", op.Name, ": ", situation)
	}
	situations := map[string][]string{}
	heres := func(c *fixtures.Case) (out []string) {
		for _, s := range fault.Situations(c, nil) {
			out = append(out, s.Here)
		}
		return out
	}
	for _, j := range jobs {
		situations[j.Case.ID] = heres(j.Case)
	}
	for _, p := range once {
		op := namedFault(g, p.Fault)
		c := cases[p.Case].Case
		if op.Apply(c, p.Place).Line == 0 {
			for _, s := range situations[p.Case] {
				tried[key(c, op, s)]++
			}
		} else if s := situations[p.Case]; p.Place < len(s) {
			tried[key(c, op, s[p.Place])]++
		}
	}
	places, all, missed := 0, map[string]bool{}, map[string]bool{}
	for _, j := range jobs {
		scn, err := fixtures.LoadScenario(j.Case.Scenario)
		g.Expect(err).NotTo(HaveOccurred())
		at := situations[j.Case.ID]
		for _, op := range fault.Operators() {
			if !runner.Wanted(cfg.Checks, op.Name) || op.Selective {
				continue
			}
			for _, place := range op.Places(j.Case, scn) {
				if places++; place < len(at) && at[place] != "" {
					k := key(j.Case, op, at[place])
					if all[k] = true; tried[k] == 0 {
						missed[k] = true
					}
				}
			}
		}
	}
	g.Expect(missed).To(BeEmpty())
	g.Expect(len(once)).To(BeNumerically("<", places/20), "of %d places", places)
}

// TestFaultsFollowUnusualLines looks for places after an unusual line at which none of the faults
// was tried that make an adapter wait.
func TestFaultsFollowUnusualLines(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it runs in one goroutine; it is run without the race detector")
	}
	g := NewWithT(t)
	jobs, err := runner.Jobs(conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{backend.Adapter("claude", claude.New())}, Checks: checks.All(),
		Cases: []string{"claude/newest/*"}, Seed: 1,
	})
	g.Expect(err).NotTo(HaveOccurred())
	unusual := runner.UnusualKinds(jobs)[jobs[0].Case.Version]
	g.Expect(unusual).To(HaveKeyWithValue("result/success", false))
	situations := map[string][]fault.Situation{}
	open := map[fault.Situation]bool{}
	for _, j := range slices.DeleteFunc(slices.Clone(jobs), notPerformable) {
		at := fault.Situations(j.Case, unusual)
		situations[j.Case.ID] = at
		for _, place := range namedFault(g, "stall").Places(j.Case, nil) {
			if place < len(at) && at[place].After != "" {
				open[at[place]] = true
			}
		}
	}
	g.Expect(len(open)).To(BeNumerically(">", 100))
	for _, p := range runner.ChosenPlaces(jobs) {
		if at := situations[p.Case]; (p.Fault == "stall" || p.Fault == "close-stdin") && p.Place < len(at) {
			delete(open, at[p.Place])
		}
	}
	g.Expect(open).To(BeEmpty())
}

func notPerformable(j runner.Job) bool { return !runner.Performable(j) }

func namedFault(g *WithT, name string) fault.Operator {
	op, err := fault.Named(name)
	g.Expect(err).NotTo(HaveOccurred())
	return op
}

// A fault with few places is tried in each case that has one.
func TestRareFaultsAreTriedOnEachCase(t *testing.T) {
	g := NewWithT(t)
	jobs, err := runner.Jobs(conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{backend.Adapter("codex", codex.New())}, Checks: checks.All(),
		Cases: []string{"codex/newest/*"}, Seed: 1,
	})
	g.Expect(err).NotTo(HaveOccurred())
	missed := map[string]bool{}
	for _, j := range slices.DeleteFunc(slices.Clone(jobs), notPerformable) {
		if len(namedFault(g, "stale-line").Places(j.Case, nil)) > 0 {
			missed[j.Case.ID] = true
		}
	}
	g.Expect(missed).NotTo(BeEmpty())
	for _, p := range runner.ChosenPlaces(jobs) {
		if p.Fault == "stale-line" {
			delete(missed, p.Case)
		}
	}
	g.Expect(missed).To(BeEmpty())
}

// A run of a few cases tries the same on each, whichever others there are.
func TestFewCasesChooseNoPlaces(t *testing.T) {
	g := NewWithT(t)
	jobs, err := runner.Jobs(conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{backend.Adapter("codex", codex.New())}, Checks: checks.All(), Cases: []string{"codex/newest/tool/*"}, Seed: 1,
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(runner.ChosenPlaces(jobs)).To(BeEmpty())
}

// The shards of a run try together what the whole run tries.
func TestShardsTryTheSameFaults(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it runs in one goroutine; it is run without the race detector")
	}
	g := NewWithT(t)
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{backend.Adapter("codex", codex.New())}, Checks: checks.All(), Cases: []string{"codex/newest/[p-u]*/*"}, Seed: 1,
	}
	jobs, err := runner.Jobs(cfg)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(runner.ChosenPlaces(jobs)).NotTo(BeEmpty())
	var parts []runner.Chosen
	for i := range 3 {
		cfg.Shard = conformance.Shard{Index: i + 1, Total: 3}
		part, err := runner.Jobs(cfg)
		g.Expect(err).NotTo(HaveOccurred())
		parts = append(parts, runner.ChosenPlaces(part)...)
	}
	slices.SortFunc(parts, func(a, b runner.Chosen) int { return strings.Compare(a.String(), b.String()) })
	whole := runner.ChosenPlaces(jobs)
	slices.SortFunc(whole, func(a, b runner.Chosen) int { return strings.Compare(a.String(), b.String()) })
	g.Expect(parts).To(Equal(whole))
}
