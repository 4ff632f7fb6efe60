// Package backend tests the back end with the suite, as the suite's first customer. It is
// not part of the stable interface. Its checks reduce the events of the reference adapters
// to chats and compare them with golden files, and it is the home of the list of all
// checks. A stranger's adapter is judged by those of package checks, because a defect of
// our reducer must not fail it.
package backend

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/backend/policy"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/golden"
	"github.com/turnspec/turnspec/conformance/backend/replay"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	_ "github.com/turnspec/turnspec/fakes/mcp" // servers that the adapter for chat completions starts
	"github.com/turnspec/turnspec/fixtures"
)

// Checks returns the checks of package checks and those of the back end, topic by topic.
func Checks() []*conformance.Check {
	all := slices.Concat(checks.All(), replay.Checks())
	topics := map[string]int{}
	for _, c := range all {
		if t := topic(c); topics[t] == 0 {
			topics[t] = len(topics) + 1
		}
	}
	slices.SortStableFunc(all, func(a, b *conformance.Check) int { return cmp.Compare(topics[topic(a)], topics[topic(b)]) })
	return all
}

// WithGoldens returns Checks, and the checks that compare runs with the golden files of
// a corpus.
func WithGoldens(corpus fixtures.Corpus) []*conformance.Check {
	return slices.Concat(Checks(), golden.Checks(corpus))
}

func topic(c *conformance.Check) string {
	t, _, _ := strings.Cut(c.ID, ".")
	return t
}

// Named returns the checks of Checks with these ids, aliases or topics, as checks.Named
// does.
func Named(names ...string) ([]*conformance.Check, error) { return checks.Select(Checks(), names...) }

// Broken returns the broken adapters that prove the checks of Checks.
func Broken() []broken.Adapter { return slices.Concat(checks.Broken(), replay.Broken()) }

// Adapter makes a Subject of an adapter that gets its tool policies and components from
// the back end.
func Adapter(name string, a adapters.Adapter) conformance.Subject {
	return conformance.Adapter(name, a, conformance.WithPolicies(policy.ReadJudge), conformance.WithComponents(component.Wrap))
}
