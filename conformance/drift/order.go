package drift

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/census"
)

// pair is two kinds of message about one item, in their order.
type pair struct{ first, second string }

// order tells messages about one item that always come in one order on one side
// and always in the other on the other.
func order(from, to []*fixtures.Case) []Change {
	a, b := orders(from), orders(to)
	var out []Change
	for p, scenarios := range a {
		back := pair{p.second, p.first}
		if b[back] == nil || b[p] != nil || a[back] != nil {
			continue
		}
		out = append(out, Change{
			Level: LevelWire, Sort: Reordered, What: p.first + " and " + p.second,
			Detail: "the first came first, now the second does", Where: names(scenarios),
		})
	}
	return out
}

// orders are the pairs of kinds in which the messages about an item began.
func orders(cases []*fixtures.Case) map[pair]map[string]bool {
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

// itemOrder tells tool calls that began in another order: parallel ones may do
// so from one run to the next.
func itemOrder(from, to *fixtures.Case) []Change {
	a, b := began(from), began(to)
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

// began are the tool calls of the scenario in the order in which the wire names
// them.
func began(c *fixtures.Case) []string {
	var tools, out []string
	for _, r := range c.Witness {
		for _, s := range r.Said {
			if s.ID != "" {
				tools = append(tools, s.ID)
			}
		}
	}
	for _, m := range census.Messages(c) {
		for _, id := range tools {
			if !m.In && (m.Item == id || strings.HasSuffix(m.Item, "_"+id)) && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}
