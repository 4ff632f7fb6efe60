package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// Config says what is run.
type Config struct {
	Corpus   fixtures.Corpus
	Subjects []Subject
	Checks   []*Check
	Cases    []string // globs over case ids; none: all
	Tiers    []Tier   // none: witness and timing, and golden for those subjects
	// Golden names the subjects whose events are compared with the goldens: the
	// reference adapters.
	Golden bool
	// Places bounds how many places of a case each fault is tried at, spread
	// evenly; 0: all.
	Places  int
	Workers int
	// Progress is called after each case, from one goroutine at a time.
	Progress func(done, total int, id string)
}

// Report is the outcome of a run.
type Report struct {
	Results []Result
	Cases   int
	Harms   int // runs with a fault
	// Missing are the checks that gave no verdict on any case: they looked at
	// nothing, or all they looked at was unrecorded or not expressible. A suite
	// that holds one has failed. Where only some cases were asked for (Config's
	// Cases) it is empty, since those need not exercise every check.
	Missing []*Check
}

// Failed reports whether the suite failed.
func (r *Report) Failed() bool {
	if len(r.Missing) > 0 {
		return true
	}
	return slices.ContainsFunc(r.Results, func(x Result) bool {
		return x.Verdict.Bad() && x.Check.Severity == Must
	})
}

// Job is one case for one subject.
type Job struct {
	Subject Subject
	Case    *fixtures.Case
}

// Jobs are the subjects' cases, in the order of the corpus.
func (cfg Config) Jobs() ([]Job, error) {
	cases, err := cfg.Corpus.Cases()
	if err != nil {
		return nil, err
	}
	switch {
	case len(cfg.Subjects) == 0:
		return nil, errors.New("there is no subject to run")
	case len(cfg.Checks) == 0 && !cfg.Golden:
		return nil, errors.New("there is no check to run")
	}
	var jobs []Job
	matched := map[string]bool{}
	for _, s := range cfg.Subjects {
		for _, c := range cases {
			if c.Runtime == s.Runtime() && cfg.wants(c.ID, matched) {
				jobs = append(jobs, Job{s, c})
			}
		}
	}
	for _, g := range cfg.Cases {
		if !matched[g] {
			return nil, fmt.Errorf("no case of the subjects matches %q; `turnspec list cases` prints all", g)
		}
	}
	if len(jobs) == 0 {
		var names []string
		for _, s := range cfg.Subjects {
			names = append(names, fmt.Sprintf("%s (%s)", s.Name(), s.Runtime()))
		}
		return nil, fmt.Errorf("the corpus holds no case for any subject: %s", strings.Join(names, ", "))
	}
	return jobs, nil
}

// Run plays the cases and applies the checks. An error means that it could not
// be run, not that a check failed.
func (cfg Config) Run(ctx context.Context) (*Report, error) {
	jobs, err := cfg.Jobs()
	if err != nil {
		return nil, err
	}
	workers := max(cfg.Workers, 1)
	results := make([][]Result, len(jobs))
	harms := make([]int, len(jobs))
	errs := make([]error, len(jobs))
	var mu sync.Mutex
	var wg sync.WaitGroup
	done := 0
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				results[i], harms[i], errs[i] = cfg.Do(jobs[i])
				mu.Lock()
				done++
				if cfg.Progress != nil {
					cfg.Progress(done, len(jobs), jobs[i].Case.ID)
				}
				mu.Unlock()
			}
		})
	}
give:
	for i := range jobs {
		select {
		case next <- i:
		case <-ctx.Done():
			break give
		}
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rep := &Report{Cases: len(jobs)}
	for i := range jobs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		rep.Results = append(rep.Results, results[i]...)
		rep.Harms += harms[i]
	}
	if len(cfg.Cases) == 0 {
		rep.Missing = Missing(rep.Results)
	}
	return rep, nil
}

func (cfg Config) wants(id string, matched map[string]bool) bool {
	if len(cfg.Cases) == 0 {
		return true
	}
	hit := false
	for _, g := range cfg.Cases {
		if Match(g, id) {
			matched[g], hit = true, true
		}
	}
	return hit
}

// Match reports whether a glob names a case: it matches the id or a run of its
// elements, such as codex/*, permission, permission/*, deny-then-stop.
func Match(glob, id string) bool {
	glob = strings.TrimSuffix(glob, "/")
	parts := strings.Split(id, "/")
	for i := range parts {
		for j := i + 1; j <= len(parts); j++ {
			if ok, _ := path.Match(glob, strings.Join(parts[i:j], "/")); ok {
				return true
			}
		}
	}
	return false
}

// Missing are the checks among results that gave no verdict: a whole suite in
// which a check finds nothing to judge does not prove it.
func Missing(results []Result) []*Check {
	judged := map[*Check]bool{}
	var out []*Check
	for _, r := range results {
		if _, seen := judged[r.Check]; !seen {
			out = append(out, r.Check)
		}
		judged[r.Check] = judged[r.Check] || r.Verdict.Judged()
	}
	return slices.DeleteFunc(out, func(c *Check) bool { return judged[c] })
}

func (cfg Config) tier(t Tier) bool { return len(cfg.Tiers) == 0 || slices.Contains(cfg.Tiers, t) }

// Do plays a case, plain and with the faults that the checks want, and judges.
// It says how many runs had a fault.
func (cfg Config) Do(j Job) ([]Result, int, error) {
	scn, err := cfg.Corpus.LoadScenario(j.Case.Scenario)
	if err != nil {
		return nil, 0, err
	}
	life, err := cfg.lifecycle(j.Case)
	if err != nil {
		return nil, 0, err
	}
	plain := Play(j.Subject, scn, j.Case, nil, life)
	harmed := map[string][]*Run{}
	n := 0
	var out []Result
	for _, check := range cfg.Checks {
		for _, tier := range []Tier{TierWitness, TierTiming} {
			if !slices.Contains(check.Tiers, tier) || !cfg.tier(tier) {
				continue
			}
			trial := &Trial{Run: plain}
			for _, name := range check.Harm {
				if _, have := harmed[name]; !have {
					op, err := fault.Named(name)
					if err != nil {
						return nil, 0, err
					}
					for _, place := range spread(op.Places(j.Case), cfg.Places) {
						harm := op.Apply(j.Case, place)
						harmed[name] = append(harmed[name], Play(j.Subject, scn, j.Case, &harm, life))
						n++
					}
				}
				trial.Harmed = append(trial.Harmed, harmed[name]...)
			}
			if check.Instead != nil {
				if acts := check.Instead(scn); acts != nil {
					other := *scn
					other.Client = acts
					trial.Other = Play(j.Subject, &other, j.Case, nil, life)
				}
			}
			out = append(out, check.Apply(trial, tier))
		}
	}
	if cfg.Golden && cfg.tier(TierGolden) {
		out = append(out, cfg.judgeGolden(plain)...)
	}
	return out, n, nil
}

// lifecycle is what the runtime answers to reads; a corpus may hold none.
func (cfg Config) lifecycle(c *fixtures.Case) (*fixtures.Lifecycle, error) {
	l, err := cfg.Corpus.LoadLifecycle(c.Runtime, c.Version)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return l, err
}

// spread picks at most n places: the first of all, which lies in the handshake,
// and the others evenly over the inside. One place alone is the middle.
func spread(places []int, n int) []int {
	if n <= 0 || len(places) <= n {
		return places
	}
	var out []int
	if n > 1 {
		out, n = append(out, places[0]), n-1
	}
	for i := range n {
		out = append(out, places[(2*i+1)*len(places)/(2*n)])
	}
	return out
}
