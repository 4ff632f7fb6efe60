package perform

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// race makes the calls of a raced fault. The director's mu guards its fields.
type race struct {
	*fault.Race
	line    int           // of the case's file: the line at which the calls are made
	step    fixtures.Step // of the scenario, which the calls replace; its Verb is "" if there is none
	started bool
	late    bool // the limit of the calls has passed
	cancel  context.CancelFunc
	done    chan struct{} // closed when all calls have returned
}

// newRace returns the race of a fault, or nil. It is called in the goroutine of runScenario.
func newRace(scn *fixtures.Scenario, f *fault.Fault) *race {
	if f == nil || f.Race == nil {
		return nil
	}
	r := &race{Race: f.Race, line: f.Line, done: make(chan struct{})}
	n := 0
	for _, s := range scn.Client {
		if s.Verb != r.Calls[0].Verb || s.What == fixtures.StopAll {
			continue
		}
		if n++; n == r.Nth {
			r.step = s
		}
	}
	return r
}

// replaces reports whether the calls replace a step.
func (r *race) replaces(s fixtures.Step) bool {
	return r != nil && r.step.Verb == s.Verb && r.step.Line == s.Line
}

// closes reports whether one of the calls closes the session.
func (r *race) closes() bool {
	return slices.ContainsFunc(r.Calls, func(s fixtures.Step) bool { return s.Verb == fixtures.VerbClose })
}

// raceAt makes the calls of the race if they are due at a line, which was just played. It never
// blocks.
func (d *director) raceAt(line *fixtures.WireLine) {
	if r := d.race; r != nil && line != nil && line.Line == r.line {
		d.startRace()
	}
}

// startRace makes the calls of the race, once, if a session is open.
func (d *director) startRace() {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, sess := d.race, d.sess
	if r.started || sess == nil {
		return
	}
	r.started = true
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	var calls sync.WaitGroup
	for _, s := range r.Calls {
		if s.Verb == r.step.Verb {
			s = r.step
		}
		c := session{d: d, sess: sess}
		if s.Verb == fixtures.VerbAnswer {
			c.asked = d.racedQuestion(s)
		}
		d.run.Steps = append(d.run.Steps, conformance.StepResult{Step: s, At: time.Since(d.start), Line: len(d.run.Played), Raced: true, Err: errNoReturn})
		n := len(d.run.Steps) - 1
		calls.Go(func() {
			err := d.makeCall(ctx, c, s)
			d.mu.Lock()
			defer d.mu.Unlock()
			if !d.finished && !r.late {
				d.run.Steps[n].Err, d.run.Steps[n].For = err, time.Since(d.start)-d.run.Steps[n].At
			}
		})
	}
	go func() {
		calls.Wait()
		close(r.done)
	}()
}

// racedQuestion returns the question that a raced answer is to, or nil: an open one, or else the
// one that was closed last. It is called with mu held.
func (d *director) racedQuestion(s fixtures.Step) *question {
	for _, s.Late = range []bool{false, true} {
		if q, ok := d.question(s); ok {
			return &q
		}
	}
	return nil
}

// waitRace waits until the calls of the race have returned, if they were made.
func (d *director) waitRace(ctx context.Context) error {
	if !d.raceStarted() {
		return nil
	}
	r, limit := d.race, d.env.stepLimit()
	defer r.cancel()
	if d.waitDone(ctx, r.done, limit) {
		return nil
	}
	d.mu.Lock()
	r.late = true
	d.mu.Unlock()
	r.cancel()
	d.env.runUntil(r.done)
	return fmt.Errorf("%w within %v", errNoReturn, limit)
}

// raceStarted reports whether the calls of the race were made.
func (d *director) raceStarted() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.race != nil && d.race.started
}

// closedByRace waits for the calls of a race that closes the session, if they were made. It
// reports whether there was such a race: the session is closed then.
func (d *director) closedByRace(ctx context.Context) bool {
	if !d.raceStarted() || !d.race.closes() {
		return false
	}
	if d.waitRace(ctx) == nil {
		if err := d.waitDrained(); err != nil {
			d.recordFailure(fixtures.Step{Verb: fixtures.VerbClose}, err)
		}
	}
	d.mu.Lock()
	d.sess = nil
	d.mu.Unlock()
	return true
}
