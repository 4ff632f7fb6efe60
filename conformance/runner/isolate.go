package runner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fakes/fault"
)

// jobRequest is a job for a worker process.
type jobRequest struct {
	Subject, Case string
	Chosen        bool             // Places were chosen for the job; else Config.Places picks them
	Places        map[string][]int // of faults
}

// jobReply is the result of a job, without its runs.
type jobReply struct {
	Results []resultReply
	Faulted int // runs with a fault
	Err     string
	Hung    bool // a run hung
	Timings []timingReply
}

// timingReply is how long a run took, in nanoseconds.
type timingReply struct {
	Fault string
	Took  int64
}

type resultReply struct {
	Check    int // of Config.Checks
	Tier     conformance.Tier
	Verdict  conformance.Verdict
	Asserted int
	Reason   string
	Problems []problemReply
}

type problemReply struct {
	Text, Diff string
	Seq        int64
	Line       int
	Operator   string // of the fault, or ""
	Place      int
}

// serveJobs makes this process a worker of the run. It does jobs until there are no
// more, and does not return.
func serveJobs(cfg conformance.Config, jobs []Job) {
	cfg.Isolate = ""
	worker.Serve(func(q jobRequest) (jobReply, bool) {
		i := slices.IndexFunc(jobs, func(j Job) bool { return j.Subject.Name() == q.Subject && j.Case.ID == q.Case })
		if i < 0 {
			return jobReply{Err: fmt.Sprintf("the worker has no case %s for %s: its arguments differ from those of the run", q.Case, q.Subject)}, true
		}
		var out jobReply
		cfg := cfg
		cfg.Timing = func(t conformance.Timing) { out.Timings = append(out.Timings, timingReply{t.Fault, int64(t.Took)}) } // one run at a time
		j := jobs[i]
		if q.Chosen { // in JSON nil and empty are the same
			j.places = q.Places
		}
		results, faulted, hung, err := doHere(cfg, j, true)
		out.Faulted, out.Hung = faulted, hung
		if err != nil {
			out.Err = err.Error()
		}
		for _, r := range results {
			t := resultReply{slices.Index(cfg.Checks, r.Check), r.Tier, r.Verdict, r.Assertions, r.Reason, nil}
			for _, p := range r.Problems {
				x := problemReply{Text: p.Text, Diff: p.Diff, Seq: p.Seq, Line: p.Line}
				if p.Fault != nil {
					x.Operator, x.Place = p.Fault.Operator, p.Fault.Place
				}
				t.Problems = append(t.Problems, x)
			}
			out.Results = append(out.Results, t)
		}
		return out, !out.Hung // goroutines that hang would slow down the next jobs
	})
}

// doInWorker does a job in a worker process. If a check failed there and no run hung,
// it does the job here again, so that the report can show its runs.
func doInWorker(cfg conformance.Config, j Job) ([]conformance.Result, int, error) {
	pool := worker.Of(cfg.Isolate)
	began := time.Now()
	t, err := worker.Do[jobRequest, jobReply](pool, jobRequest{j.Subject.Name(), j.Case.ID, j.places != nil, j.places})
	if death, ok := errors.AsType[*worker.DeathError](err); ok {
		if cfg.Timing != nil {
			cfg.Timing(conformance.Timing{Case: j.Case.ID, Subject: j.Subject.Name(), Took: time.Since(began)})
		}
		return deathResults(cfg, j, death)
	}
	if err == nil && t.Err != "" {
		err = errors.New(t.Err)
	}
	if err != nil {
		return nil, 0, err
	}
	if !t.Hung && (cfg.KeepRuns || slices.ContainsFunc(t.Results, func(r resultReply) bool { return r.Verdict.Bad() })) {
		out, n, _, err := doHere(cfg, j, false)
		return out, n, err
	}
	if cfg.Timing != nil {
		for _, x := range t.Timings {
			cfg.Timing(conformance.Timing{Case: j.Case.ID, Subject: j.Subject.Name(), Fault: x.Fault, Took: time.Duration(x.Took)})
		}
	}
	run, err := emptyRun(cfg, j)
	if err != nil {
		return nil, 0, err
	}
	var out []conformance.Result
	for _, r := range t.Results {
		res := conformance.Result{Check: cfg.Checks[r.Check], Case: j.Case.ID, Subject: j.Subject.Name(), Tier: r.Tier, Verdict: r.Verdict, Assertions: r.Asserted, Reason: r.Reason}
		for _, p := range r.Problems {
			x := conformance.Problem{Text: p.Text, Diff: p.Diff, Seq: p.Seq, Line: p.Line}
			if op, err := fault.Named(p.Operator); err == nil {
				f := op.Apply(j.Case, p.Place)
				x.Fault = &f
			}
			res.Problems = append(res.Problems, x)
		}
		if r.Verdict.Bad() {
			res.Trial = &conformance.Trial{Run: run}
		}
		out = append(out, res)
	}
	return out, t.Faulted, nil
}

// deathResults returns the verdicts on a case in which the worker process ended.
func deathResults(cfg conformance.Config, j Job, death *worker.DeathError) ([]conformance.Result, int, error) {
	run, err := emptyRun(cfg, j)
	if err != nil {
		return nil, 0, err
	}
	run.Hang = "the subject ended the process that it ran in: " + death.Error()
	var out []conformance.Result
	for _, c := range cfg.Checks {
		for _, tier := range []conformance.Tier{conformance.TierWitness, conformance.TierTiming} {
			if slices.Contains(c.Tiers, tier) && cfg.Tier(tier) {
				out = append(out, judge.Apply(c, &conformance.Trial{Run: run}, tier))
			}
		}
	}
	return out, 0, nil
}

// emptyRun returns the run of a job that was not performed in this process.
func emptyRun(cfg conformance.Config, j Job) (*conformance.Run, error) {
	rec, err := j.recording(cfg)
	if err != nil {
		return nil, err
	}
	return &conformance.Run{
		Tier: conformance.TierWitness, Subject: j.Subject.Name(), Runtime: j.Case.Runtime, Version: j.Case.Version,
		Scenario: rec.Scenario, Case: j.Case, Witness: j.Case.Witness,
	}, nil
}
