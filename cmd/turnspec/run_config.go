package main

import (
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/backend/chats"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/fixtures"
)

// config converts the flags to a configuration.
func (f runFlags) config() (conformance.Config, error) {
	var cfg conformance.Config
	var err error
	if f.places < 1 {
		return cfg, fmt.Errorf("--places %d: must be at least 1; --exhaustive tries all places", f.places)
	}
	if cfg.Corpus, err = openCorpus(f.corpus); err != nil {
		return cfg, err
	}
	if cfg.Subjects, err = f.subjects(); err != nil {
		return cfg, err
	}
	for _, t := range f.tier {
		if !slices.Contains(tierNames(), t) {
			return cfg, fmt.Errorf("unknown tier %q; want one of %s", t, strings.Join(tierNames(), ", "))
		}
		cfg.Tiers = append(cfg.Tiers, conformance.Tier(t))
	}
	onReal := slices.Contains(cfg.Tiers, conformance.TierLive)
	if onReal && len(cfg.Tiers) > 1 {
		return cfg, errors.New("--tier live cannot be combined with other tiers")
	}
	all := backend.Checks()
	if !f.external() && !f.noGolden {
		all = backend.WithGoldens(cfg.Corpus)
	}
	if cfg.Checks, err = named(all, f.checks); err != nil {
		return cfg, err
	}
	if f.level != "" && f.level != checks.LevelFull {
		if err := f.restrict(&cfg); err != nil {
			return cfg, err
		}
	}
	cfg.DrawChat = chats.Bubbles
	if v := f.version(); v != "" && !onReal {
		versions, err := versionsOf(cfg.Corpus, f.name())
		if err != nil {
			return cfg, err
		}
		if len(versions) > 0 && !slices.Contains(versions, v) {
			return cfg, fmt.Errorf("no case of %s %s, only of %s; `turnspec list cases` prints all", f.name(), v, strings.Join(versions, ", "))
		}
		if f.cases, err = ofVersion(cfg.Corpus, f.name()+"/"+v+"/", f.cases); err != nil {
			return cfg, err
		}
	}
	for _, glob := range f.cases {
		if onReal {
			break // the live tier runs scenarios, not cases
		}
		if _, err := matchingOf(cfg.Corpus, f.name(), glob); err != nil {
			return cfg, err
		}
	}
	if f.shard != "" {
		if onReal {
			return cfg, errors.New("--shard does not work with --tier live: choose scenarios with --case")
		}
		if cfg.Shard, err = conformance.ParseShard(f.shard, os.Getenv); err != nil {
			return cfg, err
		}
	}
	cfg.Cases, cfg.Workers, cfg.Places, cfg.Seed = f.cases, goruntime.GOMAXPROCS(0), f.places, f.seed
	for _, text := range f.faults {
		at, err := conformance.ParseFaultAt(text)
		if err != nil {
			return cfg, err
		}
		cfg.Faults = append(cfg.Faults, at)
	}
	cfg.Exhaustive, cfg.FailOnFlaky = f.exhaustive, f.failOnFlaky
	if f.isolate {
		if onReal || slices.Contains(cfg.Tiers, conformance.TierProcess) {
			return cfg, errors.New("--isolate does not work with the tiers process and live: their subjects run in processes already")
		}
		cfg.Isolate = "turnspec run"
	}
	if f.budget < 0 {
		return cfg, fmt.Errorf("--budget %v: must not be negative; --full tries everything", f.budget)
	}
	if f.external() && !f.full && !f.exhaustive {
		cfg.TimeBudget = f.budget
	}
	if f.external() || slices.Contains(cfg.Tiers, conformance.TierProcess) {
		cfg.Workers *= processesPerCPU
	}
	if alone(cfg.Subjects) {
		cfg.Workers = 1
	}
	return cfg, nil
}

// restrict leaves the checks of the level, and the cases of its topics if no cases were chosen.
func (f *runFlags) restrict(cfg *conformance.Config) error {
	of, topics, err := checks.OfLevel(f.level)
	if err != nil {
		return fmt.Errorf("--level: %w", err)
	}
	cfg.Checks, f.noGolden = of, true
	if len(f.cases) > 0 {
		return nil
	}
	for _, topic := range topics {
		// A runtime may have no case of a topic.
		if ids, err := matchingOf(cfg.Corpus, f.name(), topic+"/*"); err == nil && len(ids) > 0 {
			f.cases = append(f.cases, topic+"/*")
		}
	}
	return nil
}

// ofVersion returns the globs of the cases of a version of a runtime, whose ids begin
// with prefix, that the globs match; without globs all of them.
func ofVersion(corpus fixtures.Corpus, prefix string, globs []string) ([]string, error) {
	if len(globs) == 0 {
		return []string{prefix + "*/*"}, nil
	}
	var out []string
	for _, glob := range globs {
		runtime, _, _ := strings.Cut(prefix, "/")
		ids, err := matchingOf(corpus, runtime, glob)
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, id := range ids {
			if strings.HasPrefix(id, prefix) {
				out = append(out, id)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("--case %s: no case of %s matches; `turnspec list cases` prints all", glob, strings.TrimSuffix(prefix, "/"))
		}
	}
	return out, nil
}

// named returns those of all that these ids and topics name. It ignores names of other
// checks that there are: live.performed always belongs to its tier, and only the
// reference adapters have goldens.
func named(all []*conformance.Check, names []string) ([]*conformance.Check, error) {
	chosen := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return among(n, everyCheck()) && !among(n, all) })
	if len(chosen) == 0 && len(names) > 0 {
		return nil, nil
	}
	return checks.Select(all, chosen...)
}

// among reports whether a name is the id or the topic of one of the checks.
func among(name string, all []*conformance.Check) bool {
	return slices.ContainsFunc(all, func(c *conformance.Check) bool {
		topic, _, _ := strings.Cut(c.ID, ".")
		return name == c.ID || strings.TrimSuffix(name, ".*") == topic
	})
}
