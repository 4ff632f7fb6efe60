package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// stage is what the subject performs on: a stand-in in play, or the real
// runtime with the scripted model.
type stage interface {
	// open completes what a subject is to open.
	open(o Open) (Open, error)
	// provider is the id that the runtime gave to the session opened last.
	provider() string
	// until returns true when done is closed, false when nothing moves any more
	// and done is still open.
	until(done <-chan struct{}) bool
	// reach returns when the point that a wait names has been reached.
	reach(wait fixtures.Act) error
	// before and finished stand around each act of the subject.
	before(act fixtures.Act)
	finished(act fixtures.Act)
	// perform does an act that is not the subject's; false: it is.
	perform(act fixtures.Act) (bool, error)
	// limit is how long an act may take when nothing moves.
	limit() time.Duration
}

// director leads a subject through a scenario's acts.
type director struct {
	run     *Run
	subject Subject
	stage   stage
	start   time.Time

	mu       sync.Mutex
	reducer  *replay.Reducer
	sess     Session
	drained  chan struct{} // the listener of sess has ended
	provider string
	after    event.Position
	changed  chan struct{} // closed at the next event
}

var errNothingAsked = errors.New("no permission_request and no interrupt is open")

func (d *director) perform(ctx context.Context) {
	d.reducer = replay.New()
	d.changed = make(chan struct{})
	acts := d.run.Scenario.Client
	if len(acts) == 0 || acts[0].Verb != fixtures.VerbOpen {
		acts = append([]fixtures.Act{{Verb: fixtures.VerbOpen}}, acts...)
	}
	for _, act := range acts {
		if !d.act(ctx, act) {
			d.run.Stopped = true
			break
		}
	}
	if d.sess != nil {
		if h := d.run.Harm; h != nil && h.Kind == fault.Terminal {
			// What the subject says of its own accord comes first.
			d.settle(d.died, EndLimit)
		}
		if !d.run.Stopped {
			d.act(ctx, fixtures.Act{Verb: fixtures.VerbWait, What: "idle"})
		}
		d.act(ctx, fixtures.Act{Verb: fixtures.VerbClose})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run.Live = d.reducer.Chat()
}

// act does one act; false: the run cannot go on.
func (d *director) act(ctx context.Context, act fixtures.Act) bool {
	if act.Verb == fixtures.VerbWait {
		if err := d.stage.reach(act); err != nil {
			d.fail(act, err)
			return false
		}
		d.settle(func() bool { return d.died() || d.shows(act) }, d.patience())
		return true
	}
	if done, err := d.stage.perform(act); done {
		if err != nil {
			d.fail(act, err)
		}
		return err == nil
	}
	if act.Verb != fixtures.VerbOpen && d.sess == nil {
		d.fail(act, errors.New("no session is open"))
		return false
	}
	if act.Verb == fixtures.VerbAnswer {
		d.settle(func() bool { _, ok := d.asked(); return ok || d.died() }, d.patience()) // a slow subject asks late
	}
	if d.died() {
		// A fault has ended the session: what the subject said until then is
		// judged, the rest of the scenario cannot be performed.
		return false
	}
	d.stage.before(act)
	d.mu.Lock()
	d.run.Acts = append(d.run.Acts, Done{Act: act, At: time.Since(d.start)})
	i := len(d.run.Acts) - 1
	d.mu.Unlock()
	err := d.wait(ctx, act)
	if act.Verb == fixtures.VerbClose {
		d.sess = nil
	}
	if err == nil && act.Verb == fixtures.VerbClose {
		err = d.closed()
	}
	d.mu.Lock()
	d.run.Acts[i].Err = err
	d.mu.Unlock()
	d.stage.finished(act)
	// A refused act is the subject's affair (the checks see what came of it);
	// what never returned, or could not be begun, ends the run.
	return err == nil || act.Verb != fixtures.VerbOpen && !Unfinished(err) && !errors.Is(err, errNothingAsked)
}

func (d *director) fail(act fixtures.Act, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run.Acts = append(d.run.Acts, Done{Act: act, At: time.Since(d.start), Err: err})
}

var (
	errNoReturn = errors.New("did not return")
	errPanicked = errors.New("panicked")
)

// wait runs an act beside the stage and waits for both.
func (d *director) wait(ctx context.Context, act fixtures.Act) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	sess := d.sess // an act that hangs keeps its session
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%s: %w: %v", act.Verb, errPanicked, p)
			}
		}()
		err = d.do(ctx, sess, act)
	}()
	if d.stage.until(done) {
		return err
	}
	t := time.NewTimer(d.stage.limit())
	defer t.Stop()
	select {
	case <-done:
		return err
	case <-ctx.Done(): // the whole run is cancelled
		if d.stage.until(done) {
			return err
		}
		return ctx.Err()
	case <-t.C:
	}
	cancel()
	if d.stage.until(done) {
		return fmt.Errorf("%s: %w within %v", act.Verb, errNoReturn, d.stage.limit())
	}
	return fmt.Errorf("%s: %w within %v, not even when its context was cancelled", act.Verb, errNoReturn, d.stage.limit())
}

func (d *director) do(ctx context.Context, sess Session, act fixtures.Act) error {
	switch act.Verb {
	case fixtures.VerbOpen:
		return d.open(ctx, act)
	case fixtures.VerbSend:
		return sess.Send(ctx, act.ID, act.Text)
	case fixtures.VerbSteer:
		return sess.Steer(ctx, act.ID, act.Text)
	case fixtures.VerbStop:
		return sess.Stop(ctx)
	case fixtures.VerbClose:
		return sess.Close(ctx)
	case fixtures.VerbAnswer:
		id, ok := d.asked()
		if !ok {
			return errNothingAsked
		}
		if len(act.What) > 0 && act.What[0] == '{' {
			return sess.Answer(ctx, id, Answer{Decision: event.DecisionAllow, Value: []byte(act.What)})
		}
		return sess.Answer(ctx, id, Answer{Decision: event.Decision(act.What)})
	}
	return fmt.Errorf("the suite does not know how to %s", act.Verb)
}

func (d *director) open(ctx context.Context, act fixtures.Act) error {
	o := Open{Ask: slices.Contains(d.run.Scenario.Needs, "permission")}
	if act.What == "resume" {
		o.Resume, o.After = d.provider, d.after
	}
	with, err := d.stage.open(o)
	if err != nil {
		return err
	}
	with.Ask, with.Resume, with.After = o.Ask, o.Resume, o.After
	sess, err := d.subject.Open(ctx, with)
	d.mu.Lock()
	d.run.Opens = append(d.run.Opens, Opened{Resume: o.Resume, Provider: d.stage.provider(), Err: err})
	d.mu.Unlock()
	if err != nil {
		return err
	}
	d.sess, d.drained = sess, make(chan struct{})
	go d.listen(sess, d.drained)
	return nil
}

func (d *director) listen(sess Session, drained chan struct{}) {
	defer close(drained)
	for e := range sess.Events() {
		d.mu.Lock()
		d.run.Events = append(d.run.Events, Seen{e, time.Since(d.start), len(d.run.Played), len(d.run.Acts)})
		d.reducer.Add(e)
		if r, ok := e.Data.(event.SessionReady); ok && r.ProviderSessionID != "" {
			d.provider = r.ProviderSessionID
		}
		d.after.Seq, d.after.Turn = e.Seq, max(d.after.Turn, e.Turn)
		close(d.changed)
		d.changed = make(chan struct{})
		d.mu.Unlock()
	}
}

// closed waits for the end of the events after Close.
func (d *director) closed() error {
	drained := d.drained
	if d.stage.until(drained) {
		return nil
	}
	t := time.NewTimer(d.stage.limit())
	defer t.Stop()
	select {
	case <-drained:
		return nil
	case <-t.C:
		return fmt.Errorf("close: %w: the events were not closed", errNoReturn)
	}
}

// asked is the oldest question that has no answer.
func (d *director) asked() (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.openQuestion()
}

func (d *director) openQuestion() (string, bool) {
	resolved := map[string]bool{}
	for _, e := range d.run.Events {
		switch x := e.Data.(type) {
		case event.PermissionResolved:
			resolved[x.RequestID] = true
		case event.InterruptResolved:
			resolved[x.InterruptID] = true
		}
	}
	for _, e := range d.run.Events {
		switch x := e.Data.(type) {
		case event.PermissionRequest:
			if !resolved[x.RequestID] {
				return x.RequestID, true
			}
		case event.Interrupt:
			if !resolved[x.InterruptID] {
				return x.InterruptID, true
			}
		}
	}
	return "", false
}

// Unfinished reports whether an act's error says that it hung or panicked:
// other than a refusal, that is never right.
func Unfinished(err error) bool { return errors.Is(err, errNoReturn) || errors.Is(err, errPanicked) }

// EndLimit is how long a subject may take to tell that the runtime is gone, or
// that a turn was stopped. Adapters give a process some seconds to end.
const EndLimit = 15 * time.Second

// patience is how long a subject may say nothing, once the stage is still,
// before the director goes on without what it waits for. Where the runtime may
// be dead it gets the time to notice.
func (d *director) patience() time.Duration {
	if h := d.run.Harm; h != nil && h.Kind == fault.Terminal {
		return EndLimit
	}
	return time.Second
}

// settle waits until the events show what cond looks for, or the subject has
// nothing more to say. A subject that keeps up is never waited for.
func (d *director) settle(cond func() bool, patience time.Duration) {
	for {
		d.mu.Lock()
		changed := d.changed
		d.mu.Unlock()
		if cond() {
			return
		}
		if d.stage.until(changed) {
			continue
		}
		t := time.NewTimer(patience)
		select {
		case <-changed:
			t.Stop()
		case <-t.C:
			return
		}
	}
}

// shows reports whether the events show what a wait names, as far as events do.
func (d *director) shows(wait fixtures.Act) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch wait.What {
	case "ask":
		_, ok := d.openQuestion()
		return ok
	case "end":
		return messageEnded(d.run.Events, wait.ID)
	case "idle":
		return allEnded(d.run.Events)
	case "hold":
		return strings.HasSuffix(deltas(d.run.Events), saidBefore(d.run.Scenario, wait.ID))
	}
	return true
}

// saidBefore is the text of a reply up to its hold.
func saidBefore(s *fixtures.Scenario, hold string) string {
	for _, replies := range s.Model {
		for _, r := range replies {
			var text strings.Builder
			for _, p := range r.Parts {
				text.WriteString(strings.Join(p.Text, ""))
				if p.Hold == hold {
					return text.String()
				}
			}
		}
	}
	return ""
}

// died reports whether a harmed session has ended by itself.
func (d *director) died() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.run.Events)
	return d.run.Harm != nil && d.sess != nil && n > 0 && d.run.Events[n-1].Type() == event.TypeSessionEnd
}
