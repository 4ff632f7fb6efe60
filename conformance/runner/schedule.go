package runner

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/worker"
)

// schedule runs the jobs of a run. In real time all jobs run without faults first, so that the
// verdicts on all cases come as soon as possible, and then those that have faults with them.
type schedule struct {
	cfg         conformance.Config
	jobs        []Job
	kept        *kept
	attempts    []*attempt // of jobs in real time, between the two
	unsupported []bool

	mu      sync.Mutex // guards leftOut, and serializes what the configuration has called
	leftOut conformance.LeftOut
}

func newSchedule(cfg conformance.Config, jobs []Job) *schedule {
	return &schedule{cfg: cfg, jobs: jobs, kept: newKept(len(jobs)), attempts: make([]*attempt, len(jobs)), unsupported: make([]bool, len(jobs))}
}

func (s *schedule) run(ctx context.Context) error {
	for i := range s.jobs {
		s.jobs[i].unsupported, s.jobs[i].ctx = &s.unsupported[i], ctx
		if s.cfg.TimeBudget > 0 {
			s.jobs[i].deadline = time.Now().Add(s.cfg.TimeBudget)
		}
	}
	order := runOrder(s.jobs)
	for i := range s.jobs {
		if external, _ := tiersOf(s.cfg, s.jobs[i].Subject); !external {
			s.jobs[i].forget()
		}
	}
	if err := s.each(ctx, order, "", s.first); err != nil {
		return err
	}
	if err := moveFaults(s.cfg, s.jobs, s.unsupported); err != nil {
		return err
	}
	order = slices.DeleteFunc(order, func(i int) bool {
		a := s.attempts[i]
		if a == nil {
			return true
		}
		a.job.Faults = s.jobs[i].Faults
		return !a.hasFaults()
	})
	return s.each(ctx, order, " with faults", s.second)
}

// each does something with the jobs that have these indexes, and passes on their results. phase
// follows the id of a case in what it reports.
func (s *schedule) each(ctx context.Context, order []int, phase string, do func(i int) error) error {
	done := 0
	return worker.Each(ctx, s.cfg.Workers, len(order), func(k int) error {
		i := order[k]
		err := do(i)
		s.mu.Lock()
		defer s.mu.Unlock()
		done++
		if s.cfg.Judged != nil && err == nil {
			s.cfg.Judged(done, len(order), s.kept.of(i))
		}
		if s.cfg.Progress != nil {
			s.cfg.Progress(done, len(order), s.jobs[i].Case.ID+phase)
		}
		s.jobs[i].free()
		return err
	})
}

// first runs a job, without faults if it runs in real time.
func (s *schedule) first(i int) error {
	j := s.jobs[i]
	if external, _ := tiersOf(s.cfg, j.Subject); !external {
		results, n, err := Do(s.cfg, j)
		s.store(i, results, n)
		return err
	}
	if j.over() {
		results, err := leftOutResults(s.cfg, j)
		s.store(i, results, 0)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.leftOut.Cases++
		return err
	}
	a, results, err := begin(s.cfg, j, false)
	if a != nil {
		results, s.attempts[i] = a.conclude(), a
	}
	s.store(i, results, 0)
	return err
}

// second runs a job with its faults.
func (s *schedule) second(i int) error {
	a := s.attempts[i]
	s.attempts[i] = nil
	err := a.tryFaults()
	if err == nil {
		s.store(i, a.conclude(), a.faultRuns)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leftOut.Faults += a.leftOut
	return err
}

// store keeps the results of a job, unless the run was interrupted: faults may then be missing.
func (s *schedule) store(i int, results []conformance.Result, faultRuns int) {
	if s.jobs[i].context().Err() != nil {
		return
	}
	for k := range results {
		applyKnown(s.cfg, &results[k])
	}
	s.kept.store(i, results, faultRuns)
}

// over reports whether the deadline of the job has passed.
func (j Job) over() bool { return !j.deadline.IsZero() && time.Now().After(j.deadline) }

// leftOutResults returns the verdicts on a case that was not tried.
func leftOutResults(cfg conformance.Config, j Job) ([]conformance.Result, error) {
	rec, err := j.recording(cfg)
	if err != nil {
		return nil, err
	}
	run := perform.Transcribed(j.Subject, rec.Scenario, j.Case)
	_, as := tiersOf(cfg, j.Subject)
	var out []conformance.Result
	for _, check := range cfg.Checks {
		for _, tier := range check.Tiers {
			if as[tier] != "" {
				r := judge.NotTried(check, run, as[tier], conformance.TimeIsOver)
				r.Trial = nil
				out = append(out, r)
			}
		}
	}
	return out, nil
}
