package drift

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/census"
)

// pair is two kinds of message about one item, in order.
type pair struct{ first, second string }

// orderChanges returns the kinds of messages about an item that are always in one
// order on one side and always in the other order on the other side.
func orderChanges(from, to []*fixtures.Case) []Change {
	a, b := startOrders(from), startOrders(to)
	var out []Change
	for p, scenarios := range a {
		back := pair{p.second, p.first}
		if b[back] == nil || b[p] != nil || a[back] != nil {
			continue
		}
		out = append(out, Change{
			Level: LevelWire, Sort: Reordered, What: p.first + " and " + p.second,
			Detail: "the first came first, now the second does", Where: sortedNames(scenarios), scenarios: sortedNames(scenarios),
		})
	}
	return out
}

// startOrders returns the pairs of kinds in the order in which messages about an
// item start.
func startOrders(cases []*fixtures.Case) map[pair]map[string]bool {
	out := map[pair]map[string]bool{}
	for _, c := range cases {
		seen := map[string][]string{} // item → kinds
		for _, m := range census.Messages(c) {
			if m.In || m.Item == "" || slices.Contains(seen[m.Item], m.Kind) {
				continue
			}
			for _, before := range seen[m.Item] {
				p := pair{before, m.Kind}
				if out[p] == nil {
					out[p] = map[string]bool{}
				}
				out[p][c.Scenario] = true
			}
			seen[m.Item] = append(seen[m.Item], m.Kind)
		}
	}
	return out
}

// callOrderChanges returns whether tool calls started in another order. Parallel
// ones may do so from run to run.
func callOrderChanges(from, to *fixtures.Case) []Change {
	a, b := startedCalls(from), startedCalls(to)
	common := func(x, y []string) []string {
		return slices.DeleteFunc(slices.Clone(x), func(id string) bool { return !slices.Contains(y, id) })
	}
	ca, cb := common(a, b), common(b, a)
	if slices.Equal(ca, cb) {
		return nil
	}
	return []Change{{
		Level: LevelWire, Sort: Reordered, What: "tool calls of " + from.Scenario,
		Detail: strings.Join(ca, " ") + " → " + strings.Join(cb, " "), Where: []string{from.Scenario}, Chance: true,
	}}
}

// startedCalls returns the tool calls of the scenario in the order in which the wire
// first names them.
func startedCalls(c *fixtures.Case) []string {
	var tools, out []string
	for _, r := range c.Witness {
		for _, s := range r.Output {
			if s.ID != "" {
				tools = append(tools, s.ID)
			}
		}
	}
	rt := runtimes.Find(c.Runtime)
	for _, m := range census.Messages(c) {
		if id := rt.ScenarioCall(m.Item); !m.In && slices.Contains(tools, id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
