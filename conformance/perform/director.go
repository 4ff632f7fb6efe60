package perform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/component"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// stage is what the subject performs on: a stand-in in play, or the real
// runtime with the scripted model.
type stage interface {
	// open completes what a subject is to open.
	open(o conformance.Open) (conformance.Open, error)
	// provider is the id that the runtime gave to the session opened last.
	provider() string
	// until returns true when done is closed, false when nothing moves any more
	// and done is still open.
	until(done <-chan struct{}) bool
	// reach returns when the point that a wait names has been reached.
	reach(wait fixtures.Step) error
	// before and finished stand around each act of the subject.
	before(act fixtures.Step)
	finished(act fixtures.Step)
	// perform does an act that is not the subject's; false: it is.
	perform(act fixtures.Step) (bool, error)
	// limit is how long an act may take when nothing moves.
	limit() time.Duration
	// virtual reports whether time is virtual.
	virtual() bool
	// unread is how many bytes of the runtime's stdout nobody has read; -1: not known.
	unread() int
}

// director leads a subject through a scenario's acts.
type director struct {
	run     *conformance.Run
	subject conformance.Subject
	stage   stage
	start   time.Time

	mu      sync.Mutex
	over    bool // the run is judged: what comes now comes too late
	sess    conformance.Session
	away    bool            // the session was put away, and so closed
	drained chan struct{}   // the listener of sess has ended
	gone    chan struct{}   // a session was closed
	begun   int             // how many events there were before sess
	talks   []*conversation // opened, in order
	turns   int             // of all sessions: each turn of a run has a number of its own
	current *conversation
	changed chan struct{} // closed at the next event
	calls   calls

	breakers []conformance.ProtocolChecker // the sessions that can be broken
}

func (d *director) perform(ctx context.Context) {
	d.changed, d.gone = make(chan struct{}), make(chan struct{})
	d.calls.init(d)
	if s, ok := d.subject.(conformance.Declarer); ok {
		c := s.Capabilities()
		d.run.Declared = &c
	}
	acts := d.run.Scenario.Client
	if len(acts) == 0 || acts[0].Verb != fixtures.VerbOpen {
		acts = append([]fixtures.Step{{Verb: fixtures.VerbOpen}}, acts...)
	}
	for _, act := range acts {
		if !d.act(ctx, act) {
			d.run.EndedEarly = true
			break
		}
	}
	if d.sess != nil {
		if h := d.run.Fault; h != nil && h.Kind == fault.Terminal {
			// What the subject says of its own accord comes first.
			d.settle(func() bool { return d.died() || d.broken() != nil }, d.patience())
		}
		if !d.run.EndedEarly {
			d.act(ctx, fixtures.Step{Verb: fixtures.VerbWait, What: "idle"})
		}
		d.caughtUp()
		last := d.sess
		if d.died() || d.act(ctx, fixtures.Step{Verb: fixtures.VerbClose}) && d.run.Fault == nil {
			d.afterwards(ctx, last)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.broken(); err != nil && d.run.Hang == "" {
		d.run.Hang = err.Error()
	}
}

// broken is why a session cannot go on, or nil.
func (d *director) broken() error {
	for _, b := range d.breakers {
		if err := b.ProtocolError(); err != nil {
			return err
		}
	}
	return nil
}

// act does one act; false: the run cannot go on.
func (d *director) act(ctx context.Context, act fixtures.Step) bool {
	if act.Verb == fixtures.VerbWait {
		if err := d.stage.reach(act); err != nil {
			d.fail(act, err)
			return false
		}
		d.settle(func() bool { return d.died() || d.shows(act) }, d.patience())
		if act.What == LongIdle.What {
			d.rest()
		}
		return true
	}
	if act.Verb == fixtures.VerbKill && d.struck() {
		return false // a fault was quicker
	}
	if act.Verb == fixtures.VerbWrite {
		d.calls.wrote(act.ID)
		if err := d.chose(ctx, act.ID); err != nil {
			d.fail(act, err)
			return false
		}
	}
	if done, err := d.stage.perform(act); done {
		if err != nil {
			d.fail(act, err)
		}
		if act.Verb == fixtures.VerbKill && err == nil {
			_ = d.stage.reach(fixtures.Step{Verb: fixtures.VerbWait, What: "exit"})
			d.killed(ctx)
		}
		return err == nil
	}
	if act.Verb == fixtures.VerbClose && d.away {
		d.away = false
		return true // it was closed when it was put away
	}
	if act.Verb != fixtures.VerbOpen && d.sess == nil {
		d.fail(act, fmt.Errorf("%w: no session is open", errNotBegun))
		return false
	}
	if act.Verb != fixtures.VerbClose && d.broken() != nil {
		return false // what it would say now means nothing
	}
	if act.Verb == fixtures.VerbAnswer {
		d.settle(func() bool { _, ok := d.asked(act); return ok || d.died() }, d.patience()) // a slow subject asks late
	}
	if d.struck() {
		d.settle(d.died, EndLimit) // a process that lives on without a voice takes its time to end
	}
	if d.died() {
		// A fault has ended the session: what the subject said until then is
		// judged, the rest of the scenario cannot be performed.
		return false
	}
	d.stage.before(act)
	d.mu.Lock()
	d.run.Steps = append(d.run.Steps, conformance.StepResult{Step: act, At: time.Since(d.start)})
	i := len(d.run.Steps) - 1
	d.mu.Unlock()
	err := d.wait(ctx, d.sess, act)
	if h := d.run.Fault; h != nil && h.ListenerBlocked && act.Verb == fixtures.VerbClose {
		close(d.gone)
	}
	if act.Verb == fixtures.VerbClose || act.Verb == fixtures.VerbArchive && err == nil {
		d.sess, d.away = nil, act.Verb == fixtures.VerbArchive
	}
	if err == nil && (act.Verb == fixtures.VerbClose || act.Verb == fixtures.VerbArchive) {
		err = d.closed()
	}
	d.mu.Lock()
	d.run.Steps[i].Err, d.run.Steps[i].For = err, time.Since(d.start)-d.run.Steps[i].At
	d.mu.Unlock()
	d.stage.finished(act)
	if (act.Refused || act.Verb == fixtures.VerbArchive) && d.struck() {
		return false // what comes of a later process says nothing of the one that a fault has ended
	}
	if errors.Is(err, conformance.ErrDeclaredUnsupported) {
		return false // nothing of the scenario can be judged then
	}
	// A refused act is the subject's affair (the checks see what came of it);
	// what never returned, or could not be begun, ends the run.
	return err == nil || (act.Verb != fixtures.VerbOpen || act.Refused) && !Unfinished(err) && !errors.Is(err, errNothingAsked)
}

func (d *director) fail(act fixtures.Step, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run.Steps = append(d.run.Steps, conformance.StepResult{Step: act, At: time.Since(d.start), Err: err})
}

var (
	errNoReturn = errors.New("did not return")
	errPanicked = errors.New("panicked")
)

// wait runs an act beside the stage and waits for both.
func (d *director) wait(ctx context.Context, sess conformance.Session, act fixtures.Step) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%s: %w: %v", act.Verb, errPanicked, p)
			}
		}()
		ctx, leave := d.patient(ctx, act)
		defer leave()
		err = d.do(ctx, sess, act)
	}()
	if d.linger(ctx, done, d.stage.limit()) {
		return err
	}
	if ctx.Err() != nil { // the whole run is cancelled
		if d.stage.until(done) {
			return err
		}
		return ctx.Err()
	}
	cancel()
	if d.stage.until(done) {
		return fmt.Errorf("%s: %w within %v", act.Verb, errNoReturn, d.stage.limit())
	}
	return fmt.Errorf("%s: %w within %v, not even when its context was cancelled", act.Verb, errNoReturn, d.stage.limit())
}

func (d *director) do(ctx context.Context, sess conformance.Session, act fixtures.Step) error {
	switch act.Verb {
	case fixtures.VerbOpen:
		return d.open(ctx, act)
	case fixtures.VerbSend:
		if act.What != "" {
			return d.taskAct(ctx, sess, act)
		}
		return d.send(ctx, sess, act)
	case fixtures.VerbSteer:
		return sess.Steer(ctx, act.ID, act.Text)
	case fixtures.VerbStop:
		if act.What == fixtures.StopAll {
			return d.taskAct(ctx, sess, act)
		}
		return sess.Stop(ctx)
	case fixtures.VerbClose:
		return sess.Close(ctx)
	case fixtures.VerbAnswer:
		return d.answer(ctx, sess, act)
	case fixtures.VerbSet:
		st, ok := sess.(conformance.Setter)
		if !ok {
			return adapters.ErrUnsupported
		}
		if act.What == "model" {
			return st.SetModel(ctx, act.ValueFor(d.run.Runtime))
		}
		return st.SetMode(ctx, act.ValueFor(d.run.Runtime))
	}
	if act.Verb == fixtures.VerbStopTask || act.Verb == fixtures.VerbWithdraw || act.Verb == fixtures.VerbAside {
		return d.taskAct(ctx, sess, act)
	}
	return lifeAct(ctx, sess, act)
}

func (d *director) open(ctx context.Context, act fixtures.Step) error {
	o, talk, err := d.opening(act)
	if err != nil {
		return err
	}
	with, err := d.stage.open(o)
	if err != nil {
		return err
	}
	with.Args = append(slices.Clip(with.Args), act.Args...)
	d.calls.into(&with)
	if with.Judge, err = judgeOf(with.Policy); err != nil {
		return fmt.Errorf("%s: %w", d.run.Scenario.File, err)
	}
	sess, err := d.subject.Open(ctx, with)
	d.mu.Lock()
	d.begun = len(d.run.Events)
	d.run.Opens = append(d.run.Opens, conformance.OpenResult{Step: act, Resume: with.Resume, Dir: with.Dir, Model: with.Model, Provider: d.stage.provider(), Err: err})
	if err == nil {
		if d.current = talk; !slices.Contains(d.talks, talk) {
			d.talks = append(d.talks, talk)
		}
	}
	d.mu.Unlock()
	if err != nil {
		if errors.Is(err, conformance.ErrProtocol) {
			d.run.Hang = err.Error()
		}
		return err
	}
	if b, ok := sess.(conformance.ProtocolChecker); ok {
		d.breakers = append(d.breakers, b)
	}
	if c, ok := sess.(conformance.EventSupporter); ok {
		before := d.run.EventSupport // of another session of the run
		d.run.EventSupport = func(what string) bool { return c.Supports(what) && (before == nil || before(what)) }
	}
	drained := make(chan struct{})
	d.mu.Lock() // a stage looks whether the session before has ended
	d.sess, d.drained = sess, drained
	d.mu.Unlock()
	go d.listen(sess, talk, drained)
	return nil
}

func (d *director) listen(sess conformance.Session, talk *conversation, drained chan struct{}) {
	defer close(drained)
	for e := range sess.Events() {
		d.mu.Lock()
		if d.over {
			d.mu.Unlock()
			continue
		}
		d.run.Events = append(d.run.Events, conformance.Event{Event: e, At: time.Since(d.start), Line: len(d.run.Played), Steps: len(d.run.Steps)})
		if r, ok := e.Data.(event.SessionReady); ok && r.ProviderSessionID != "" {
			talk.provider = r.ProviderSessionID
		}
		if e.Type() == event.TypeInterrupt && d.run.Scenario.Components != nil {
			d.calls.called[component.ToolAsk] = true
		}
		talk.seq, d.turns = e.Seq, max(d.turns, e.Turn)
		close(d.changed)
		d.changed = make(chan struct{})
		d.mu.Unlock()
		d.pause(sess)
		d.deafen()
	}
}

// closed waits for the end of the events after Close.
func (d *director) closed() error {
	if d.linger(context.Background(), d.drained, d.stage.limit()) {
		return nil
	}
	return fmt.Errorf("close: %w: the events were not closed", errNoReturn)
}

// Unfinished reports whether an act's error says that it hung or panicked:
// other than a refusal, that is never right.
func Unfinished(err error) bool { return errors.Is(err, errNoReturn) || errors.Is(err, errPanicked) }
