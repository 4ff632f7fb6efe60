package broken_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fixtures"
)

func references() []conformance.Subject {
	return []conformance.Subject{conformance.Adapter("codex", codex.New()), conformance.Adapter("claude", claude.New())}
}

// places bounds the places of each fault: the matrix asks which checks fail,
// not where.
const places = 3

// small are the cases that are not large, which prove nothing more.
func small(t *testing.T) []string {
	t.Helper()
	all, err := fixtures.Cases()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range all {
		if len(c.Wire) < 200 {
			out = append(out, c.ID)
		}
	}
	return out
}

func of(runtime string, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, runtime+"/") })
}

// TestMatrix runs every broken adapter against every check: it fails exactly
// the checks that it names, and every check is failed by one of them.
func TestMatrix(t *testing.T) {
	g := NewWithT(t)
	proven := map[string]bool{}
	cases := small(t)
	var table strings.Builder
	for i, a := range broken.All() {
		if raced && i%10 != 0 {
			continue
		}
		failed := map[string][]string{} // check → runtimes
		for _, ref := range references() {
			if a.Runtime != "" && a.Runtime != ref.Runtime() {
				continue
			}
			rep, err := conformance.Config{
				Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{a.Subject(ref)}, Checks: checks.All(),
				Cases: of(ref.Runtime(), cases), Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming}, Places: places, Workers: runtime.NumCPU(),
			}.Run(t.Context())
			g.Expect(err).NotTo(HaveOccurred())
			for _, r := range rep.Results {
				if r.Verdict == conformance.Fail && !slices.Contains(failed[r.Check.ID], ref.Runtime()) {
					failed[r.Check.ID] = append(failed[r.Check.ID], ref.Runtime())
				}
			}
		}
		got := []string{}
		for id, on := range failed {
			got = append(got, id)
			for _, name := range on {
				proven[name+" "+id] = true
			}
			if a.Runtime == "" && len(on) != len(references()) {
				t.Errorf("%s: fails %s on %v only, and does not say why", a.Name, id, on)
			}
		}
		slices.Sort(got)
		want := slices.Clone(a.Fails)
		slices.Sort(want)
		fmt.Fprintf(&table, "%-26s %s\n", a.Name, strings.Join(got, " "))
		if !slices.Equal(got, want) {
			t.Errorf("%s: fails %v, want %v", a.Name, failed, want)
		}
	}
	for _, c := range checks.All() {
		if raced {
			break
		}
		for _, ref := range references() {
			if !proven[ref.Runtime()+" "+c.ID] {
				t.Errorf("no broken adapter fails %s on %s: a check that cannot fail proves nothing", c.ID, ref.Runtime())
			}
		}
	}
	if testing.Verbose() {
		_, _ = fmt.Fprint(os.Stdout, table.String())
	}
}

// TestFailsNames: a misspelt check in Fails would never be noticed.
func TestFailsNames(t *testing.T) {
	var ids []string
	for _, c := range checks.All() {
		ids = append(ids, c.ID)
	}
	seen := map[string]bool{}
	for _, a := range broken.All() {
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
