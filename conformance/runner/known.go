package runner

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// applyKnown sets KnownFailure of a failed or flaky result that a known failure names.
func applyKnown(cfg conformance.Config, r *conformance.Result) {
	if !r.Verdict.BadOnce() {
		return
	}
	for i := range cfg.KnownFailures {
		if cfg.KnownFailures[i].Names(*r) {
			r.KnownFailure = &cfg.KnownFailures[i]
			return
		}
	}
}

// ApplyKnownFailures sets KnownFailure of the results and returns how the known
// failures were used. Results of Do have it already.
func ApplyKnownFailures(cfg conformance.Config, results []conformance.Result) ([]conformance.KnownFailureUse, error) {
	for i := range results {
		applyKnown(cfg, &results[i])
	}
	return KnownFailureUses(cfg, results)
}

// KnownFailureUses returns how the known failures were used in the results of a run.
func KnownFailureUses(cfg conformance.Config, results []conformance.Result) ([]conformance.KnownFailureUse, error) {
	if len(cfg.KnownFailures) == 0 {
		return nil, nil
	}
	ids, err := cfg.Corpus.CaseIDs()
	if err != nil {
		return nil, err
	}
	out := make([]conformance.KnownFailureUse, 0, len(cfg.KnownFailures))
	for _, k := range cfg.KnownFailures {
		u := conformance.KnownFailureUse{KnownFailure: k, NoSuchCase: true}
		for _, id := range ids {
			if conformance.Match(k.Case, id) {
				u.NoSuchCase = false
				break
			}
		}
		for _, r := range results {
			if !k.Names(r) {
				continue
			}
			if r.Verdict.BadOnce() {
				u.Failed++
			}
			if r.Verdict == conformance.Flaky {
				u.Flaky++
			}
			if (r.Verdict.Judged() || r.Verdict == conformance.NotApplicable) && allTiers(cfg, r.Check, r.Subject) {
				u.Judged++
			}
		}
		out = append(out, u)
	}
	return out, nil
}

// allTiers reports whether a subject is judged in all tiers of a check, except
// live. Only then a pass means that the check does not fail any more.
func allTiers(cfg conformance.Config, c *conformance.Check, subject string) bool {
	i := slices.IndexFunc(cfg.Subjects, func(s conformance.Subject) bool { return s.Name() == subject })
	if i < 0 {
		return false
	}
	_, as := tiersOf(cfg, cfg.Subjects[i])
	for _, t := range c.Tiers {
		if t != conformance.TierLive && as[t] == "" {
			return false
		}
	}
	return true
}
