package drift

import (
	"context"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
)

// rounds are the sides of which scenarios with changes are recorded again, in order.
// A change that does not occur each time is chance.
var rounds = []struct{ old bool }{{false}, {true}, {false}}

// Limits of the scenarios that are recorded again: for a change of many scenarios,
// a sample is enough.
const (
	sampleOfEvents = 40 // for a change of events, a check that fails, or a failure
	sampleOfWire   = 3
	maxSample      = 60 // in one round
)

// changesThatLast returns the changes that are still found after their scenarios
// have been recorded again.
func (cfg *Config) changesThatLast(ctx context.Context, found []Change) ([]Change, error) {
	for _, round := range rounds {
		sample := cfg.sampleScenarios(found)
		if len(sample) == 0 {
			break
		}
		side, err := cfg.Again(ctx, round.old, sample)
		if err != nil {
			return nil, err
		}
		replaced := &cfg.To
		if round.old {
			replaced = &cfg.From
		}
		recovered, replacedAny := replaced.replaceCases(side)
		if !replacedAny {
			continue
		}
		now, err := cfg.findChanges(ctx)
		if err != nil {
			return nil, err
		}
		found = stillFound(found, now, sample)
		for _, c := range now { // of scenarios that could not be compared before
			shows := func(id string) bool { return slices.Contains(c.scenarios, id) }
			if slices.ContainsFunc(recovered, shows) && !slices.ContainsFunc(found, c.isSame) {
				found = append(found, c)
			}
		}
	}
	return found, nil
}

// sampleScenarios returns the scenarios to record again.
func (cfg *Config) sampleScenarios(found []Change) []*fixtures.Scenario {
	chosen := map[string]bool{}
	for _, c := range found {
		if c.Chance {
			continue
		}
		n := sampleOfWire
		if c.Level != LevelWire {
			n = sampleOfEvents
		}
		for _, id := range c.scenarios[:min(n, len(c.scenarios))] {
			if len(chosen) < maxSample {
				chosen[id] = true
			}
		}
	}
	var out []*fixtures.Scenario
	for _, s := range cfg.Scenarios {
		if chosen[s.ID] {
			out = append(out, s)
		}
	}
	return out
}

// replaceCases takes over the recordings of another side and reports whether there
// is one. It returns the scenarios that had failed, because a scenario that was
// recorded once has not failed.
func (s *Side) replaceCases(with Side) (recovered []string, replaced bool) {
	for id, c := range with.Cases {
		if s.Failed[id] != nil {
			recovered = append(recovered, id)
		}
		s.Cases[id] = c
		delete(s.Failed, id)
	}
	return recovered, len(with.Cases) > 0
}

// stillFound returns the changes of before that are in now. A change that none of
// the scenarios that were recorded again shows is dropped.
func stillFound(before, now []Change, sample []*fixtures.Scenario) []Change {
	sampled := func(id string) bool {
		return slices.ContainsFunc(sample, func(s *fixtures.Scenario) bool { return s.ID == id })
	}
	var out []Change
	for _, c := range before {
		i := slices.IndexFunc(now, c.isSame)
		if i < 0 {
			continue
		}
		c.Diff = now[i].Diff
		if len(c.scenarios) > 0 {
			kept := slices.DeleteFunc(slices.Clone(c.scenarios), func(id string) bool { return !slices.Contains(now[i].scenarios, id) })
			if len(kept) == 0 || slices.ContainsFunc(c.scenarios, sampled) && !slices.ContainsFunc(kept, sampled) && c.Level == LevelWire {
				continue
			}
			if slices.Equal(c.Where, c.scenarios) {
				c.Where = kept
			}
			c.scenarios = kept
		}
		out = append(out, c)
	}
	return out
}

// isSame reports whether two comparisons found the same change.
func (c Change) isSame(d Change) bool {
	return c.Level == d.Level && c.Sort == d.Sort && c.What == d.What && c.Detail == d.Detail
}
