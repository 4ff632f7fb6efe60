package runner

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// tiersOf returns whether a subject runs in real time, and for the checks of each
// tier the tier in which they are judged; "": they are not. A subject that is a
// process runs in real time, and so does any other if the process tier is selected.
func tiersOf(cfg conformance.Config, s conformance.Subject) (external bool, as map[conformance.Tier]conformance.Tier) {
	as = map[conformance.Tier]conformance.Tier{}
	_, external = s.(conformance.External)
	if !external && !slices.Contains(cfg.Tiers, conformance.TierProcess) {
		for _, t := range []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden} {
			if cfg.Tier(t) {
				as[t] = t
			}
		}
		return false, as
	}
	if cfg.Tier(conformance.TierProcess) {
		as[conformance.TierWitness] = conformance.TierProcess
	}
	if len(cfg.Tiers) == 0 || slices.Contains(cfg.Tiers, conformance.TierTiming) {
		as[conformance.TierTiming] = conformance.TierTiming
	}
	return true, as
}

// observers returns the observers of the checks that are judged in these tiers.
func observers(cfg conformance.Config, as map[conformance.Tier]conformance.Tier) (out []*conformance.Observer) {
	for _, c := range cfg.Checks {
		judged := slices.ContainsFunc(c.Tiers, func(t conformance.Tier) bool { return as[t] != "" })
		if judged && c.Observer != nil && !slices.Contains(out, c.Observer) {
			out = append(out, c.Observer)
		}
	}
	return out
}
