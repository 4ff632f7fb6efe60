package runner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fakes/fault"
)

// asked is a job for a worker process.
type asked struct{ Subject, Case string }

// told is what came of it: the runs themselves stay where they were.
type told struct {
	Results []toldResult
	Harms   int
	Err     string
	Hung    bool // some play did not come to its end
}

type toldResult struct {
	Check    int // of Config.Checks; -1: a golden's
	ID       string
	Tier     conformance.Tier
	Verdict  conformance.Verdict
	Looked   int
	Reason   string
	Problems []toldProblem
}

type toldProblem struct {
	Text, Diff string
	Seq        int64
	Line       int
	Operator   string // of the harm, if there was one
	Place      int
}

// serve makes this process a worker of the run: it does jobs until there are no
// more, and does not return.
func serve(cfg conformance.Config, jobs []Job) {
	cfg.Isolate = ""
	worker.Serve(func(q asked) (told, bool) {
		i := slices.IndexFunc(jobs, func(j Job) bool { return j.Subject.Name() == q.Subject && j.Case.ID == q.Case })
		if i < 0 {
			return told{Err: fmt.Sprintf("the worker has no case %s for %s: it was started another way than the run", q.Case, q.Subject)}, true
		}
		var out told
		results, harms, hung, err := do(cfg, jobs[i], true)
		out.Harms, out.Hung = harms, hung
		if err != nil {
			out.Err = err.Error()
		}
		for _, r := range results {
			t := toldResult{slices.Index(cfg.Checks, r.Check), r.Check.ID, r.Tier, r.Verdict, r.Assertions, r.Reason, nil}
			for _, p := range r.Problems {
				x := toldProblem{Text: p.Text, Diff: p.Diff, Seq: p.Seq, Line: p.Line}
				if p.Fault != nil {
					x.Operator, x.Place = p.Fault.Operator, p.Fault.Place
				}
				t.Problems = append(t.Problems, x)
			}
			out.Results = append(out.Results, t)
		}
		return out, !out.Hung // goroutines that hang would slow down what comes
	})
}

// away does a job in a worker process. What failed there, and ended well, is
// done here once more: so its runs are here to be shown.
func away(cfg conformance.Config, j Job) ([]conformance.Result, int, error) {
	pool := worker.Of(cfg.Isolate)
	t, err := worker.Do[asked, told](pool, asked{j.Subject.Name(), j.Case.ID})
	if death, ok := errors.AsType[*worker.DeathError](err); ok {
		return died(cfg, j, death)
	}
	if err == nil && t.Err != "" {
		err = errors.New(t.Err)
	}
	if err != nil {
		return nil, 0, err
	}
	if !t.Hung && (cfg.KeepRuns || slices.ContainsFunc(t.Results, func(r toldResult) bool { return r.Verdict.Bad() })) {
		out, n, _, err := do(cfg, j, false)
		return out, n, err
	}
	run, err := blank(cfg, j)
	if err != nil {
		return nil, 0, err
	}
	var out []conformance.Result
	for _, r := range t.Results {
		res := conformance.Result{Case: j.Case.ID, Subject: j.Subject.Name(), Tier: r.Tier, Verdict: r.Verdict, Assertions: r.Looked, Reason: r.Reason}
		if r.Check >= 0 {
			res.Check = cfg.Checks[r.Check]
		} else if i := slices.IndexFunc(judge.GoldenChecks(), func(c *conformance.Check) bool { return c.ID == r.ID }); i >= 0 {
			res.Check = judge.GoldenChecks()[i]
		}
		for _, p := range r.Problems {
			x := conformance.Problem{Text: p.Text, Diff: p.Diff, Seq: p.Seq, Line: p.Line}
			if op, err := fault.Named(p.Operator); err == nil {
				h := op.Apply(j.Case, p.Place)
				x.Fault = &h
			}
			res.Problems = append(res.Problems, x)
		}
		if r.Verdict.Bad() {
			res.Trial = &conformance.Trial{Run: run}
		}
		out = append(out, res)
	}
	return out, t.Harms, nil
}

// died gives the verdicts on a case that ended the process it was played in.
func died(cfg conformance.Config, j Job, death *worker.DeathError) ([]conformance.Result, int, error) {
	run, err := blank(cfg, j)
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

// blank is the run of a job that was not performed here.
func blank(cfg conformance.Config, j Job) (*conformance.Run, error) {
	rec, err := j.recording(cfg)
	if err != nil {
		return nil, err
	}
	return &conformance.Run{
		Tier: conformance.TierWitness, Subject: j.Subject.Name(), Runtime: j.Case.Runtime, Version: j.Case.Version,
		Scenario: rec.Scenario, Case: j.Case, Witness: j.Case.Witness,
	}, nil
}
