// Package shrink makes a case smaller on which a subject fails a check. It is not part of
// the stable interface.
//
// Smallest, ScenarioForms and Words are how it searches, for what else can be made smaller:
// package explore makes scenarios smaller that it performs on a real runtime.
//
// Shrink removes turns, steps, lines of the wire and requests of the witness, and shortens
// strings, as long as the subject fails the same check in the same words. The reference
// adapter must pass the check on the smaller case, so that what is left shows a defect of
// the subject and not a broken wire.
package shrink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// Config configures Shrink.
type Config struct {
	Corpus   fixtures.Corpus // holds the case, its scenario and the read replies
	Case     string          // its id
	Subject  conformance.Subject
	Check    *conformance.Check
	Fault    string              // judge only the runs with this fault; "": the fault that fails, if one does
	Guard    conformance.Subject // must pass the check on what is left; nil: none
	Seed     uint64              // of the places of the faults
	Tries    int                 // how many smaller cases to try; 0: no limit
	Limit    time.Duration       // how long to try; 0: no limit
	Progress func(tries, lines int)
}

// Result is a smaller case.
type Result struct {
	Scenario []byte // the content of its file
	Case     *fixtures.Case
	Problem  string // why the check fails on it
	Fault    string // the fault with which it does, or ""
	Tries    int
	Before   Size
	After    Size
}

// Size is the size of a case.
type Size struct{ Lines, Steps, Bytes int }

// ErrPasses is the error of a case on which the subject does not fail the check.
var ErrPasses = errors.New("the subject does not fail the check")

// Shrink returns the smallest case found on which the subject fails the check.
func Shrink(ctx context.Context, cfg Config) (*Result, error) {
	first, err := load(cfg.Corpus, cfg.Case)
	if err != nil {
		return nil, err
	}
	if cfg.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.Limit)
		defer cancel()
	}
	s := &shrinker{Config: cfg, best: first}
	if err := s.begin(); err != nil {
		return nil, err
	}
	before := first.size()
	for again := true; again && s.more(ctx); {
		size := s.best.size()
		for _, pass := range []func(context.Context){s.dropTurns, s.dropSteps, s.dropLines, s.dropRequests, s.dropReplies, s.dropMembers, s.shortenStrings} {
			pass(ctx)
		}
		again = s.best.size() != size
	}
	c := *s.best.recorded
	c.Recorded = fmt.Sprintf("%s, made smaller by turnspec shrink: %d of %d lines", c.Recorded, len(c.Wire), before.Lines)
	return &Result{
		Scenario: s.best.scenario, Case: &c, Problem: s.problem, Fault: s.fault,
		Tries: s.tries, Before: before, After: s.best.size(),
	}, nil
}

// shrinker holds the smallest case so far.
type shrinker struct {
	Config
	best    *sample
	check   conformance.Check // with the one fault that fails, or with none
	fault   string
	problem string
	words   string // of the problem
	tries   int
}

// more reports whether to go on.
func (s *shrinker) more(ctx context.Context) bool {
	return ctx.Err() == nil && (s.Tries == 0 || s.tries < s.Tries)
}

// begin checks that the case fails, and chooses the fault.
func (s *shrinker) begin() error {
	s.check = *s.Check
	if s.Fault != "" {
		if !slices.Contains(s.Check.Faults, s.Fault) {
			return fmt.Errorf("check %s does not try the fault %s, only %s", s.Check.ID, s.Fault, strings.Join(s.Check.Faults, ", "))
		}
		s.check.Faults, s.check.Judge = []string{s.Fault}, nil
	}
	res, err := s.judge(s.Subject, s.best)
	if err != nil {
		return err
	}
	if res.Verdict != conformance.Fail {
		return fmt.Errorf("%s on %s: %w (%s)", s.Check.ID, s.Case, ErrPasses, res.Verdict)
	}
	p := res.Problems[0]
	s.problem, s.words = p.Text, Words(p.Text)
	if p.Fault == nil {
		s.check.Faults = nil // the others need not be tried
	} else {
		s.fault, s.check.Faults, s.check.Judge = p.Fault.Operator, []string{p.Fault.Operator}, nil
	}
	if s.Guard == nil {
		return nil
	}
	if res, err = s.judge(s.Guard, s.best); err != nil {
		return err
	}
	if res.Verdict == conformance.Fail {
		s.Guard = nil // nothing to demand of it
	}
	return nil
}

// try keeps a smaller case if the subject fails on it as before.
func (s *shrinker) try(ctx context.Context, smaller *sample) bool {
	if smaller == nil || !s.more(ctx) {
		return false
	}
	s.tries++
	if s.Progress != nil {
		s.Progress(s.tries, len(s.best.recorded.Wire))
	}
	smaller, err := smaller.reload()
	if err != nil {
		return false
	}
	res, err := s.judge(s.Subject, smaller)
	if err != nil || res.Verdict != conformance.Fail {
		return false
	}
	i := slices.IndexFunc(res.Problems, func(p conformance.Problem) bool { return Words(p.Text) == s.words })
	if i < 0 {
		return false
	}
	if s.Guard != nil {
		guard, err := s.judge(s.Guard, smaller)
		if err != nil || guard.Verdict != conformance.Pass && guard.Verdict != conformance.Sent {
			return false
		}
	}
	s.best, s.problem = smaller, res.Problems[i].Text
	return true
}

// replayLimit is how long, in real time, a replay may take. A wire from which a line was
// removed may leave a subject waiting.
const replayLimit = 10 * time.Second

// judge lets a subject perform a case, and returns the worst verdict of the check.
func (s *shrinker) judge(subject conformance.Subject, x *sample) (conformance.Result, error) {
	cfg := conformance.Config{
		Corpus: x.over(s.Corpus), Subjects: []conformance.Subject{subject}, Checks: []*conformance.Check{&s.check},
		Places: 3, Seed: s.Seed, RealTimeLimit: replayLimit,
	}
	results, _, err := runner.Do(cfg, runner.Job{Subject: subject, Case: x.recorded})
	if err != nil || len(results) == 0 {
		return conformance.Result{Verdict: conformance.NotApplicable}, err
	}
	for _, r := range results {
		if r.Verdict == conformance.Fail && len(r.Problems) > 0 {
			return r, nil
		}
	}
	return results[0], nil
}
