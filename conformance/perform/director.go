// Package perform lets a subject perform the steps of a scenario and records what
// happened in a conformance.Run. It is not part of the stable interface.
//
// There is one interpreter of steps, the director, and three environments that a
// subject can run in:
//
//	Virtual   a stand-in replays the case in this process, in virtual time
//	Process   a stand-in that is a process replays it, in real time
//	Live      the real runtime talks to the scripted model, in real time
//
// Nothing here judges: a step that fails, hangs or panics is part of the record.
package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/steps"
)

// environment is the environment of a subject: a stand-in or a real runtime, and
// the clock.
type environment interface {
	steps.Environment
	// prepareOpen adds to o how the runtime is started.
	prepareOpen(o conformance.Open) conformance.Open
	// providerID is the id that the runtime gave to the session opened last; "" if
	// it is not known yet.
	providerID() string
	// playedID translates a recorded id into that of the play.
	playedID(id string) string
	// runUntil returns true when done is closed, and false if nothing moves any more
	// while done is still open.
	runUntil(done <-chan struct{}) bool
	// beforeStep and afterStep are called around each step of a session.
	beforeStep(s fixtures.Step)
	afterStep(s fixtures.Step)
	// stepLimit is how long a step may take after nothing moves any more.
	stepLimit() time.Duration
	// playTime is how long the environment has taken, since the start, for lines that the
	// subject can only wait for.
	playTime() time.Duration
	// abort ends what the subject has started, because the play is ended.
	abort()
	// unreadBytes is how much of the runtime's stdout the subject has not read; -1 if
	// that is not known.
	unreadBytes() int
}

// director runs the steps of a scenario with a subject.
type director struct {
	run     *conformance.Run
	subject conformance.Subject
	env     environment
	start   time.Time
	limits  *adapters.Limits // to tell the subject; nil: none
	// waitedOnce is set when the subject was given its whole time to report what the
	// fault did to the runtime.
	waitedOnce bool
	// callsAfterEnd makes the director call a session that has ended once more. A
	// subject that is a program may have exited with its session.
	callsAfterEnd bool

	mu            sync.Mutex
	finished      bool // the run is being judged: later events and calls are dropped
	sess          adapters.Session
	archived      bool            // the last step archived, and so closed, the session
	drained       chan struct{}   // closed when the listener of sess has returned
	closed        chan struct{}   // closed when a session was closed, if the fault blocks the listener until then
	eventsBefore  int             // how many events there were when sess was opened
	conversations []*conversation // in the order of their first open
	turns         int             // of all sessions: turn numbers are unique in a run
	current       *conversation
	answered      map[string]bool // questions that a step has answered, by id
	changed       chan struct{}   // closed and replaced at each event
	calls         clientCalls
	observations  []observation

	race *race // nil: the fault moves no call

	budget   budget        // of the step that runs
	abortErr error         // why the play was ended
	aborted  chan struct{} // closed when the play was ended
	ending   chan struct{} // closed when the session of a play that was ended is about to be closed
	aborters []conformance.Aborter

	checkers []conformance.ProtocolChecker // sessions that detect protocol errors
	programs []conformance.ProgramReporter // sessions with a program
	probers  []conformance.Prober          // sessions that probe their subject
}

// errStop ends a run whose next steps cannot be run or would prove nothing.
var errStop = errors.New("the run cannot go on")

// init prepares the director, in the goroutines that runScenario belongs to.
func (d *director) init() {
	d.changed, d.closed, d.aborted, d.ending = make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	d.calls.init(d)
	d.race = newRace(d.run.Scenario, d.run.Fault)
}

func (d *director) runScenario(ctx context.Context) {
	if s, ok := d.subject.(conformance.Declarer); ok {
		c := s.Capabilities()
		d.run.Declared = &c
	}
	err := steps.Run(d.run.Scenario, func(s fixtures.Step) error { return d.runStep(ctx, s) })
	d.run.EndedEarly = err != nil
	if d.sess != nil && !d.isAborted() && !d.closedByRace(ctx) {
		d.endScenario(ctx)
	}
	if d.isAborted() {
		d.endAborted()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.abortErr != nil {
		d.run.Hang, d.run.EndedEarly = d.abortErr.Error(), true
	}
	for _, p := range d.programs {
		d.run.Program = append(d.run.Program, p.ProgramOutput())
	}
	for _, p := range d.probers {
		d.run.Probes = append(d.run.Probes, p.Probes()...)
	}
	d.finishObservations()
	if err := d.protocolError(); err != nil && d.run.Hang == "" {
		d.run.Hang = err.Error()
	}
}

// observation is what an observer makes of the events of this run.
type observation struct {
	observer *conformance.Observer
	conformance.Observation
}

// finishObservations stores the results of the observers. A defect of one is an error of
// the harness.
func (d *director) finishObservations() {
	for _, o := range d.observations {
		result, err := o.Result()
		if err != nil {
			d.run.Harness = err.Error()
			continue
		}
		if d.run.Observed == nil {
			d.run.Observed = map[*conformance.Observer]any{}
		}
		d.run.Observed[o.observer] = result
	}
}

// endScenario waits for the subject's last events and closes the session.
func (d *director) endScenario(ctx context.Context) {
	if f := d.run.Fault; f != nil && f.Kind == fault.Terminal {
		// The subject should report the end before the session is closed.
		d.waitUntil(func() bool { return d.faultEndedSession() || d.protocolError() != nil }, d.idleWait())
	}
	if !d.run.EndedEarly {
		_ = d.runStep(ctx, fixtures.Step{Verb: fixtures.VerbWait, What: "idle"}) // a failure is among the step results
	}
	if d.closedByRace(ctx) || d.waitRace(ctx) != nil && d.isAborted() {
		return
	}
	d.recordBacklog()
	last := d.sess
	if d.faultEndedSession() || d.runStep(ctx, fixtures.Step{Verb: fixtures.VerbClose}) == nil && d.run.Fault == nil {
		d.callEnded(ctx, last)
	}
}

// protocolError returns why a session cannot go on, or nil.
func (d *director) protocolError() error {
	for _, c := range d.checkers {
		if err := c.ProtocolError(); err != nil {
			return err
		}
	}
	return nil
}

// runStep runs one step. An error means that the run cannot go on.
func (d *director) runStep(ctx context.Context, s fixtures.Step) error {
	if d.isAborted() || d.closedByRace(ctx) {
		return errStop
	}
	d.beginBudget(s)
	run := d.sessionStep
	if steps.OfEnvironment(s) {
		run = d.environmentStep
	}
	err := run(ctx, s)
	d.endOverBudget(cmp.Or(d.protocolError(), err))
	return err
}

// environmentStep changes the environment, or waits for it and then for the
// events that the subject emits at that point.
func (d *director) environmentStep(ctx context.Context, s fixtures.Step) error {
	if isProgramStep(s) {
		return d.programStep(ctx, s)
	}
	switch s.Verb {
	case fixtures.VerbKill:
		if d.faultEndedProcess() {
			return errStop
		}
	case fixtures.VerbWrite:
		d.calls.fileWritten(s.ID)
		if err := d.answerComponent(ctx, s.ID); err != nil {
			d.recordFailure(s, err)
			return err
		}
	}
	began := time.Now()
	if err := steps.EnvironmentStep(ctx, d.env, s); err != nil {
		d.recordFailure(s, err)
		return err
	}
	switch s.Verb {
	case fixtures.VerbWait:
		d.waitUntil(func() bool { return d.faultEndedSession() || d.eventsReached(s) }, d.idleWait())
		if d.run.Tier == conformance.TierProcess && d.run.Fault == nil && !d.eventsReached(s) {
			d.run.Waits = append(d.run.Waits, conformance.Wait{For: waitedFor(s), Took: time.Since(began)})
		}
		if s.What == LongIdle.What {
			d.idleLong()
		}
	case fixtures.VerbKill:
		_ = d.env.Wait(ctx, fixtures.Step{Verb: fixtures.VerbWait, What: "exit"}) // the checks judge what the subject reports
		d.closeKilled(ctx)
	}
	return nil
}

// sessionStep runs a step of the session and records its result.
func (d *director) sessionStep(ctx context.Context, s fixtures.Step) error {
	if s.Verb == fixtures.VerbClose && d.archived {
		d.archived = false
		return nil // Archive closed it
	}
	if s.Verb != fixtures.VerbOpen && d.sess == nil {
		err := fmt.Errorf("%w: no session is open", errNotStarted)
		d.recordFailure(s, err)
		return err
	}
	if s.Verb != fixtures.VerbClose && d.protocolError() != nil {
		return errStop
	}
	if s.Verb == fixtures.VerbAnswer { // a slow subject emits the question late
		d.waitUntil(func() bool { _, ok := d.findQuestion(s); return ok || d.faultEndedSession() }, d.idleWait())
	}
	if d.faultEndedProcess() {
		d.waitUntil(d.faultEndedSession, d.onlyOnce(EndLimit)) // a process that only closed its stdout takes its time to end
	}
	if d.faultEndedSession() {
		return errStop
	}
	if f := d.run.Fault; f != nil && f.AnswerAfter > 0 && s.Verb == fixtures.VerbAnswer && d.linePlayed(f.Line) {
		d.waitUntil(d.faultEndedSession, f.AnswerAfter)
	}
	d.env.beforeStep(s)
	if d.race.replaces(s) {
		d.startRace()
		if err := d.waitRace(ctx); err != nil {
			return err
		}
		d.env.afterStep(s)
		return nil
	}
	i := d.recordStart(s)
	err := d.callWithin(ctx, d.sess, s)
	closes := s.Verb == fixtures.VerbClose || s.Verb == fixtures.VerbArchive && err == nil
	if f := d.run.Fault; f != nil && f.ListenerBlocked && s.Verb == fixtures.VerbClose {
		close(d.closed)
	}
	if closes {
		d.sess, d.archived = nil, s.Verb == fixtures.VerbArchive
		if err == nil {
			err = d.waitDrained()
		}
	}
	d.mu.Lock()
	d.run.Steps[i].Err, d.run.Steps[i].For = err, time.Since(d.start)-d.run.Steps[i].At
	d.mu.Unlock()
	d.env.afterStep(s)
	switch {
	case (s.Refused || s.Verb == fixtures.VerbArchive) && d.faultEndedProcess():
		return errStop // a later process proves nothing about the one that the fault ended
	case errors.Is(err, conformance.ErrDeclaredUnsupported):
		return errStop // nothing of the scenario can be judged
	case err == nil, (s.Verb != fixtures.VerbOpen || s.Refused) && !Unfinished(err) && !errors.Is(err, errNoQuestion):
		return nil // if the session refused a step, the checks judge what followed
	}
	return err
}

func (d *director) recordStart(s fixtures.Step) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run.Steps = append(d.run.Steps, conformance.StepResult{Step: s, At: time.Since(d.start), Line: len(d.run.Played)})
	return len(d.run.Steps) - 1
}

func (d *director) recordFailure(s fixtures.Step, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run.Steps = append(d.run.Steps, conformance.StepResult{Step: s, At: time.Since(d.start), Err: err})
}

var (
	errNoReturn   = errors.New("did not return")
	errPanicked   = errors.New("panicked")
	errNotStarted = errors.New("the step could not start")
)

// Unfinished reports whether a step's error means that the call hung or panicked.
// Unlike a refusal, that is always a failure.
func Unfinished(err error) bool { return errors.Is(err, errNoReturn) || errors.Is(err, errPanicked) }

// NotStarted reports whether a step's error comes from this package, because the
// subject's events lack what the step is about, or because the subject declared
// that it cannot do it.
func NotStarted(err error) bool {
	return errors.Is(err, errNotStarted) || errors.Is(err, conformance.ErrDeclaredUnsupported)
}

// callWithin runs a step of the session while the environment continues, for at
// most the limit of the environment.
func (d *director) callWithin(ctx context.Context, sess adapters.Session, s fixtures.Step) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = d.makeCall(ctx, session{d: d, sess: sess, stopTwice: s.Verb == StopTwice.Verb && s.What == StopTwice.What}, s)
	}()
	limit := d.env.stepLimit()
	if d.waitDone(ctx, done, limit) {
		return err
	}
	if d.isAborted() {
		cancel()
		d.waitAborted(done)
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.abortErr
	}
	if ctx.Err() != nil { // the whole run is cancelled
		if d.env.runUntil(done) {
			return err
		}
		return ctx.Err()
	}
	cancel()
	if d.env.runUntil(done) {
		return fmt.Errorf("%s: %w within %v", s.Verb, errNoReturn, limit)
	}
	return fmt.Errorf("%s: %w within %v, not even when its context was cancelled", s.Verb, errNoReturn, limit)
}

// makeCall runs a step of the session. A panic of the subject is its error.
func (d *director) makeCall(ctx context.Context, c session, s fixtures.Step) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v", s.Verb, errPanicked, p)
		}
	}()
	ctx, leave := d.stepContext(ctx, s)
	defer leave()
	return steps.SessionStep(ctx, c, s)
}
