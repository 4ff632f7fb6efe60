package conformance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
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
	// Places bounds how many places of a case each fault is tried at; 0: all. Seed
	// picks them; 0: spread evenly.
	Places  int
	Seed    uint64
	Workers int
	// Known are failures that do not fail the run; see ParseKnown.
	KnownFailures []KnownFailure
	Shard         Shard // the part of the cases that is run; zero: all
	// Runs keeps the runs of what did not fail too, in Result.Trial: hundreds of
	// megabytes over the whole corpus.
	KeepRuns bool
	// Isolate plays in worker processes: a subject that panics in a goroutine of
	// its own, or ends the program, fails its case and no other. A worker is this
	// program, started anew with the same arguments; in a test give t.Name(), by
	// which it is run there. Empty: all is played in this process.
	Isolate string
	// Rest is how long, in real time, a play in virtual time may take; 0: two
	// minutes. It takes milliseconds, but for a subject that spins.
	RealTimeLimit time.Duration
	// Progress is called after each case, from one goroutine at a time.
	Progress func(done, total int, id string)
}

// Report is the outcome of a run.
type Report struct {
	Results   []Result
	Cases     int
	FaultRuns int // runs with a fault: triples of a case, an operator and a place
	// Missing are the checks that gave no verdict on any case: they looked at
	// nothing, or all they looked at was unrecorded or not expressible. A suite
	// that holds one has failed. Where only some cases were asked for (Config's
	// Cases, or a shard) it is empty, since those need not exercise every check.
	Missing       []*Check
	KnownFailures []KnownFailureUse
	Shard         Shard
}

// Failed reports whether the suite failed.
func (r *Report) Failed() bool {
	if len(r.Missing) > 0 || len(r.Stale()) > 0 {
		return true
	}
	return slices.ContainsFunc(r.Results, func(x Result) bool {
		return x.Verdict.Bad() && x.KnownFailure == nil && x.Check.Severity == Must
	})
}

// Stale are the known failures that fail no more. A shard cannot tell.
func (r *Report) Stale() []KnownFailureUse {
	if r.Shard.Partial() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.KnownFailures), func(u KnownFailureUse) bool { return u.Stale() == "" })
}

// Job is one case for one subject.
type Job struct {
	Subject Subject
	Case    *fixtures.Case
	// Plain leaves the faults out: in real time they are tried on some cases only.
	WithoutFaults bool

	with *setting // nil: to be loaded
}

// Jobs are the subjects' cases, in the order of the corpus. A shard may hold
// none.
func (cfg Config) Jobs() ([]Job, error) {
	if err := cfg.Shard.check(); err != nil {
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
	cases, err := cfg.Corpus.CasesWhere(func(id string) bool {
		runtime, _, _ := fixtures.SplitCaseID(id)
		return slices.ContainsFunc(cfg.Subjects, func(s Subject) bool { return s.Runtime() == runtime }) && cfg.wants(id, matched)
	})
	if err != nil {
		return nil, err
	}
	loaded := loader{corpus: cfg.Corpus}
	for _, s := range cfg.Subjects {
		for _, c := range cases {
			if c.Runtime != s.Runtime() {
				continue
			}
			with, err := loaded.setting(c)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, Job{Subject: s, Case: c, with: with})
		}
		cfg.sampleJobs(s, jobs)
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
	jobs = cfg.Shard.take(jobs)
	if worker.Serving(cfg.Isolate) {
		cfg.serve(jobs)
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
	rep := &Report{Cases: len(jobs), Shard: cfg.Shard}
	for i := range jobs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		rep.Results = append(rep.Results, results[i]...)
		rep.FaultRuns += harms[i]
	}
	if len(cfg.Cases) == 0 && !cfg.Shard.Partial() {
		rep.Missing = Missing(rep.Results)
	}
	rep.KnownFailures, err = cfg.KnownFailureUses(rep.Results)
	return rep, err
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
	n := 1 + strings.Count(glob, "/") // no * matches a slash
	for i := 0; i+n <= len(parts); i++ {
		if ok, _ := path.Match(glob, strings.Join(parts[i:i+n], "/")); ok {
			return true
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
		judged[r.Check] = judged[r.Check] || r.Verdict.Judged() || r.beyondReach()
	}
	return slices.DeleteFunc(out, func(c *Check) bool { return judged[c] })
}

func (cfg Config) tier(t Tier) bool { return len(cfg.Tiers) == 0 || slices.Contains(cfg.Tiers, t) }

// Do plays a case, plain and with the faults that the checks want, and judges.
// It says how many runs had a fault.
func (cfg Config) Do(j Job) ([]Result, int, error) {
	var out []Result
	var harms int
	var err error
	if external, _ := cfg.stages(j.Subject); cfg.Isolate != "" && !external {
		out, harms, err = cfg.away(j)
	} else {
		out, harms, _, err = cfg.do(j, false)
	}
	for i := range out {
		cfg.excuse(&out[i])
	}
	return out, harms, err
}

// do runs a job in this process. hung reports whether a play did not come to its
// end; a worker then tries nothing more of the case.
func (cfg Config) do(j Job, inWorker bool) (results []Result, faultRuns int, hung bool, err error) {
	with := j.with
	if with == nil {
		var err error
		if with, err = (&loader{corpus: cfg.Corpus}).setting(j.Case); err != nil {
			return nil, 0, false, err
		}
	}
	scn := with.scenario
	if why := scn.Expressible(j.Case.Runtime); why != "" {
		return cfg.inexpressible(j, scn, why), 0, false, nil
	}
	ready, err := standin.Prepare(j.Case)
	if err != nil {
		return nil, 0, false, err
	}
	external, as := cfg.stages(j.Subject)
	play := func(harm *fault.Fault, scn *fixtures.Scenario) *Run {
		s := setting{scenario: scn, life: with.life, ready: ready}
		if external {
			return playProcess(j.Subject, j.Case, harm, &s)
		}
		r := playWithin(cfg.rest(), j.Subject, j.Case, harm, &s)
		hung = hung || r.Hang != ""
		return r
	}
	plain := play(nil, scn)
	alone := plain.cannot() != "" || inWorker && plain.Hang != "" // more plays would tell nothing more
	j.WithoutFaults = j.WithoutFaults || alone
	judged := cfg.judgePlain(plain, external, alone, as, func(acts []fixtures.Step) *Run {
		other := *scn
		other.Client = acts
		return play(nil, &other)
	})
	n := 0
	if !j.WithoutFaults {
		if n, err = cfg.judgeHarmed(j.Case, plain, judged, external, func(harm *fault.Fault) *Run { return play(harm, scn) }); err != nil {
			return nil, 0, hung, err
		}
	}
	var out []Result
	for _, x := range judged {
		if x.untimed {
			out = append(out, untimed(x.check, plain))
			continue
		}
		out = append(out, x.check.conclude(x.trial, x.tier, &x.found))
	}
	if cfg.Golden && cfg.tier(TierGolden) && !external {
		out = append(out, cfg.judgeGolden(plain)...)
	}
	for i := range out {
		if !out[i].Verdict.Bad() && !cfg.KeepRuns {
			out[i].Trial = nil
		}
	}
	return out, n, hung, nil
}
