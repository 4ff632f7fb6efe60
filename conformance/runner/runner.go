// Package runner runs all cases of a configuration and returns the report. It is not part
// of the stable interface.
//
// Run runs the whole configuration. Jobs and Do run it case by case, for a test
// framework that has a spec for each case.
package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Job is one case for one subject.
type Job struct {
	Subject conformance.Subject
	Case    *fixtures.Case
	// WithoutFaults leaves out the faults.
	WithoutFaults bool
	// Faults are the faults that are tried; nil: all. In real time each is tried on some
	// cases only.
	Faults []string

	// places are the places that were chosen for the job, by fault: an empty list for a fault
	// that has places of which none was chosen. It is nil if Config.Places picks them.
	places map[string][]int

	rec *perform.Recording // nil: Do loads it
	// unread is set if the case lacks its lines: Do reads them from the corpus again.
	unread bool
	// unsupported is set to true if the subject does not support what the case needs, so
	// that no fault was tried; nil: it is not needed.
	unsupported *bool
	ctx         context.Context // ends when the run is interrupted; nil: it cannot be
	deadline    time.Time       // after it no run is begun; zero: there is none
}

// Jobs returns the jobs of the configuration, in the order of the corpus. A shard
// may hold none.
func Jobs(cfg conformance.Config) ([]Job, error) {
	if err := cfg.Shard.Validate(); err != nil {
		return nil, err
	}
	switch {
	case len(cfg.Subjects) == 0:
		return nil, errors.New("there is no subject to run")
	case len(cfg.Checks) == 0:
		return nil, errors.New("there is no check to run")
	}
	var jobs []Job
	globs := make([]string, len(cfg.Cases))
	for i, g := range cfg.Cases {
		globs[i] = cfg.Corpus.Resolve(g)
	}
	matched := make([]bool, len(globs))
	cases, err := cfg.Corpus.CasesWhere(func(id string) bool {
		runtime, _, _ := fixtures.SplitCaseID(id)
		return slices.ContainsFunc(cfg.Subjects, func(s conformance.Subject) bool { return s.Runtime() == runtime }) && matches(globs, id, matched)
	})
	if err != nil {
		return nil, err
	}
	loaded := perform.Loader{Corpus: cfg.Corpus}
	for _, s := range cfg.Subjects {
		for _, c := range cases {
			if c.Runtime != s.Runtime() {
				continue
			}
			rec, err := loaded.Load(c)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, Job{Subject: s, Case: c, rec: &rec})
		}
		if err := sampleJobs(cfg, s, jobs); err != nil {
			return nil, err
		}
		if err := choosePlaces(cfg, s, jobs); err != nil {
			return nil, err
		}
	}
	for i, g := range cfg.Cases {
		if !matched[i] {
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
	if err := checkFaults(cfg, jobs); err != nil {
		return nil, err
	}
	jobs = shardJobs(cfg.Shard, jobs)
	if worker.Serving(cfg.Isolate) {
		serveJobs(cfg, jobs)
	}
	return jobs, nil
}

// Run replays the cases and applies the checks. An error means that the suite could
// not be run, not that a check failed. If ctx ends, Run returns its error and the
// report of the cases that were done.
func Run(ctx context.Context, cfg conformance.Config) (*conformance.Report, error) {
	jobs, err := Jobs(cfg)
	if err != nil {
		return nil, err
	}
	var timings []conformance.Timing
	if cfg.Timing == nil {
		var mu sync.Mutex
		cfg.Timing = func(t conformance.Timing) {
			mu.Lock()
			defer mu.Unlock()
			timings = append(timings, t)
		}
	}
	s := newSchedule(cfg, jobs)
	err = s.run(ctx)
	rep := &conformance.Report{Shard: cfg.Shard, Timings: timings, FailOnFlaky: cfg.FailOnFlaky}
	switch {
	case err != nil && ctx.Err() != nil: // it cannot show that a check is missing or that a known failure is stale
		rep.Interrupted = true
		rep.Cases = s.kept.report(rep)
		return rep, err
	case err != nil:
		return nil, err
	}
	s.kept.report(rep)
	rep.Cases, rep.LeftOut = len(jobs)-s.leftOut.Cases, s.leftOut
	rep.KnownFailures, err = KnownFailureUses(cfg, rep.Results)
	return rep, err
}

// matches reports whether one of the globs matches a case, and marks those that do. No globs
// match each case.
func matches(globs []string, id string, matched []bool) bool {
	hit := len(globs) == 0
	for i, g := range globs {
		if conformance.Match(g, id) {
			matched[i], hit = true, true
		}
	}
	return hit
}

// Do runs a job, plain and with the faults that the checks want, and judges it. It
// also returns the number of runs with a fault.
func Do(cfg conformance.Config, j Job) ([]conformance.Result, int, error) {
	j, err := j.read(cfg)
	if err != nil {
		return nil, 0, err
	}
	var out []conformance.Result
	var faultRuns int
	if external, _ := tiersOf(cfg, j.Subject); cfg.Isolate != "" && !external {
		out, faultRuns, err = doInWorker(cfg, j)
	} else {
		out, faultRuns, _, err = doHere(cfg, j, false)
	}
	for i := range out {
		applyKnown(cfg, &out[i])
	}
	return out, faultRuns, err
}

// attempt is a job that is performed in this process.
type attempt struct {
	cfg       conformance.Config
	job       Job
	external  bool
	plain     *conformance.Run
	judged    []*judging
	replay    replayFunc
	again     bool // it is the second try
	hung      bool // a run hung
	plainOnly bool // runs with a fault would prove nothing more
	faultRuns int
	leftOut   int                  // runs with a fault that were left out
	concluded []conformance.Result // without faults
}

// doHere runs a job in this process. hung reports whether a run hung; a worker then
// tries no more runs of the case.
func doHere(cfg conformance.Config, j Job, inWorker bool) (results []conformance.Result, faultRuns int, hung bool, err error) {
	a, results, err := begin(cfg, j, inWorker)
	if a == nil {
		return results, 0, false, err
	}
	if err := a.tryFaults(); err != nil {
		return nil, 0, a.hung, err
	}
	return a.conclude(), a.faultRuns, a.hung, nil
}

// begin runs a job without faults. It returns results, and no attempt, if no subject can perform
// the case.
func begin(cfg conformance.Config, j Job, inWorker bool) (*attempt, []conformance.Result, error) {
	rec, err := j.recording(cfg)
	if err != nil {
		return nil, nil, err
	}
	scn := rec.Scenario
	if why := scn.Inexpressible(j.Case.Runtime); why != "" {
		return nil, notExpressible(cfg, j, scn, why), nil
	}
	if rec.Prepared, err = standin.Prepare(j.Case); err != nil {
		return nil, nil, err
	}
	external, as := tiersOf(cfg, j.Subject)
	rec.Observers = observers(cfg, as)
	a := &attempt{cfg: cfg, job: j, external: external}
	a.replay = func(f *fault.Fault, scn *fixtures.Scenario) *conformance.Run {
		rec := rec
		rec.Scenario = scn
		began := time.Now()
		var r *conformance.Run
		if external {
			r = perform.Process(j.context(), j.Subject, withLimits(rec, f, a.plain, a.again), f)
		} else {
			r = perform.Virtual(j.Subject, rec, f)
			a.hung = a.hung || r.Hang != ""
		}
		if cfg.Timing != nil {
			cfg.Timing(timingOf(r, time.Since(began)))
		}
		return r
	}
	a.plain = a.replay(nil, scn)
	a.plainOnly = judge.Unsupported(a.plain) != "" || (inWorker || external) && a.plain.Hang != ""
	if j.unsupported != nil {
		*j.unsupported = a.plainOnly
	}
	a.judged = judgePlain(cfg, a.plain, external, a.plainOnly, as, a.replay)
	return a, nil, nil
}

// hasFaults reports whether the job may have runs with a fault.
func (a *attempt) hasFaults() bool {
	return !a.job.WithoutFaults && !a.plainOnly && (a.job.Faults == nil || len(a.job.Faults) > 0)
}

// tryFaults runs the job with its faults, until its deadline.
func (a *attempt) tryFaults() (err error) {
	if a.job.WithoutFaults || a.plainOnly {
		return nil
	}
	a.faultRuns, a.leftOut, err = judgeFaulted(a.cfg, a.job, a.plain, a.judged, a.external,
		func(f *fault.Fault) *conformance.Run { return a.replay(f, a.plain.Scenario) })
	return err
}

// conclude returns the results of the job so far. In real time it tries failures again.
func (a *attempt) conclude() []conformance.Result {
	cfg := a.cfg
	out := make([]conformance.Result, 0, len(a.judged))
	for _, x := range a.judged {
		out = append(out, x.conclude(a.plain))
	}
	if a.external && !cfg.SingleTry && a.job.context().Err() == nil {
		a.retry(out)
	}
	if a.external {
		a.concluded = slices.Clone(out)
	}
	for i := range out {
		if !out[i].Verdict.BadOnce() && !cfg.KeepRuns {
			out[i].Trial = nil
		}
	}
	return out
}

// retry tries failures again. What failed without a fault was tried again before those with one.
func (a *attempt) retry(out []conformance.Result) {
	var failed []conformance.Result
	var at []int
	for i, r := range out {
		ofFault := slices.ContainsFunc(r.Problems, func(p conformance.Problem) bool { return p.Fault != nil })
		switch {
		case r.Verdict != conformance.Fail:
		case a.concluded != nil && !ofFault:
			out[i] = a.concluded[i]
		default:
			failed, at = append(failed, r), append(at, i)
		}
	}
	a.again = true
	retryFailures(a.cfg, a.plain, failed, a.replay)
	a.again = false
	for k, r := range failed {
		out[at[k]] = r
	}
}

func (j Job) context() context.Context {
	if j.ctx == nil {
		return context.Background()
	}
	return j.ctx
}

// recording returns the recording of the job. It loads it if the job was made
// outside of Jobs.
func (j Job) recording(cfg conformance.Config) (perform.Recording, error) {
	if j.rec != nil {
		rec := *j.rec
		rec.RealTimeLimit = cfg.RealTimeLimit
		return rec, nil
	}
	rec, err := (&perform.Loader{Corpus: cfg.Corpus}).Load(j.Case)
	rec.RealTimeLimit = cfg.RealTimeLimit
	return rec, err
}

// forget drops the lines of the case until the job begins. The lines of all cases are half a
// gigabyte, through which each collection of garbage would go, and are read again in a
// hundredth of the time that the case takes.
func (j *Job) forget() {
	if j.rec == nil {
		return
	}
	c, rec := *j.Case, *j.rec
	c.Wire, c.Witness = nil, nil
	rec.Case = &c
	j.Case, j.rec, j.unread = &c, &rec, true
}

// read returns the job with the lines of its case.
func (j Job) read(cfg conformance.Config) (Job, error) {
	if !j.unread {
		return j, nil
	}
	c, err := cfg.Corpus.LoadCase(j.Case.ID)
	if err != nil {
		return j, err
	}
	rec := *j.rec
	rec.Case = c
	j.Case, j.rec, j.unread = c, &rec, false
	return j, nil
}

// free drops the recording of a job that is done, so that a run does not hold all of them to its
// end. A job in real time keeps it: moveFaults may have it done again.
func (j *Job) free() {
	if j.Faults == nil {
		j.Case, j.rec = &fixtures.Case{ID: j.Case.ID}, nil
	}
}

// notExpressible returns the verdicts on a case that no subject can perform.
func notExpressible(cfg conformance.Config, j Job, scn *fixtures.Scenario, why string) []conformance.Result {
	run := perform.Transcribed(j.Subject, scn, j.Case)
	_, as := tiersOf(cfg, j.Subject)
	var out []conformance.Result
	for _, check := range cfg.Checks {
		for _, tier := range []conformance.Tier{conformance.TierWitness, conformance.TierTiming, conformance.TierGolden} {
			switch {
			case !slices.Contains(check.Tiers, tier) || !cfg.Tier(tier):
			case tier == conformance.TierGolden && as[tier] == "": // not judged in real time
			case check.JudgesTranscript:
				out = append(out, judge.Apply(check, &conformance.Trial{Run: run}, tier))
			default:
				out = append(out, conformance.Result{Check: check, Case: j.Case.ID, Subject: j.Subject.Name(), Tier: tier,
					Verdict: conformance.NotExpressible, Reason: why, Trial: &conformance.Trial{Run: run}})
			}
		}
	}
	return out
}
