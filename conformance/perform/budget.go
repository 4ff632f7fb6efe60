package perform

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/steps"
)

// The budget of a step: what a subject may emit from the begin of a step to that of the next
// one. It is generous, because an adapter may emit several events for a line and keep the line in
// each, and a machine may be slow; it bounds the memory and the time of a subject that never
// stops. What the stand-in played counts, as a fault may make a line longer by megabytes.
const (
	budgetEvents  = 10_000   // at least; calls of tools and hooks count as events
	eventsPerLine = 20       // of what the stand-in has played
	budgetBytes   = 16 << 20 // at least, as event.Event.Size counts
	bytesPerByte  = 4        // of what the stand-in has played
	// budgetTime is how long events may come, beside the time that the stand-in takes to play. It
	// begins again after a pause of idleTime, as in a call that takes long. In virtual time there
	// is no such limit: time that passes costs nothing, and events count.
	budgetTime = 30 * time.Second
)

// budget counts what the subject emits in a step. The director's mu guards it.
type budget struct {
	step   fixtures.Step
	began  time.Time // of the time that is limited
	moved  time.Time // the last event, or other move
	events int
	bytes  int
	played playedBytes
	paused time.Duration // of environment.playTime, when the step began
}

// playedBytes is how much of the wire was counted for the limits of a step.
type playedBytes struct{ lines, bytes int }

// errAborted is the error of a program that was to be started after the play was ended.
var errAborted = errors.New("the play was ended")

// beginBudget begins the budget of a step.
func (d *director) beginBudget(s fixtures.Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	d.budget = budget{step: s, began: now, moved: now, played: d.budget.played, paused: d.env.playTime()}
}

// move records that something moved, and returns for how long things have been moving.
func (b *budget) move() time.Duration {
	now := time.Now()
	if now.Sub(b.moved) >= idleTime {
		b.began = now
	}
	b.moved = now
	return now.Sub(b.began)
}

// spend counts an event, or a call, of so many bytes. It reports false, and ends the play, if the
// step exceeds its budget. It is called with mu held.
func (d *director) spend(size int) bool {
	if d.finished || d.abortErr != nil {
		return false
	}
	b := &d.budget
	b.events++
	b.bytes += size
	for _, p := range d.run.Played[b.played.lines:] {
		b.played.bytes += len(p.Line.Bytes)
	}
	b.played.lines = len(d.run.Played)
	maxEvents, maxBytes := max(budgetEvents, eventsPerLine*b.played.lines), max(budgetBytes, bytesPerByte*b.played.bytes)
	took := b.move()
	limit := d.timeLimit()
	var what string
	switch {
	case b.events > maxEvents:
		what = fmt.Sprintf("%d events, of at most %d", b.events, maxEvents)
	case b.bytes > maxBytes:
		what = fmt.Sprintf("%d bytes of events, of at most %d", b.bytes, maxBytes)
	case limit > 0 && took > limit:
		what = fmt.Sprintf("events still come after %v, of at most %v", took.Round(time.Second), limit.Round(time.Second))
	default:
		return true
	}
	d.run.OverBudget = fmt.Sprintf("turn.within-budget: at the step %q the subject exceeds its budget: %s (so far %d events, %d bytes, %v)",
		steps.String(b.step), what, b.events, b.bytes, took.Round(time.Millisecond))
	d.abortLocked(fmt.Errorf("%s\nnext: emit nothing more after the end of a turn, and no event twice; look at the last events", d.run.OverBudget))
	return false
}

// endOverBudget ends the play if err is that a program exceeded the budget with one line, which its
// plug detects: to count it as an event, the plug would have to read all of it.
func (d *director) endOverBudget(err error) {
	if !errors.Is(err, conformance.ErrOverBudget) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.abortErr != nil {
		return
	}
	err = fmt.Errorf("turn.within-budget: at the step %q the subject exceeds its budget: %w", steps.String(d.budget.step), err)
	d.run.OverBudget, _, _ = strings.Cut(err.Error(), "\n")
	d.abortLocked(err)
}

// timeLimit returns how long events may come in the step; 0: as long as they do.
func (d *director) timeLimit() time.Duration {
	if d.run.Tier != conformance.TierProcess {
		return 0
	}
	limit := budgetTime + d.env.playTime() - d.budget.paused
	if d.run.Fault != nil { // the subject may take its time to report the effect
		limit += max(d.run.StallWait, EndLimit)
	}
	return limit
}

// spendTime ends the play if the step has taken longer than events may come in it, as when the
// subject writes to the runtime without end.
func (d *director) spendTime() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if limit := d.timeLimit(); limit > 0 && d.budget.move() > limit {
		d.budget.events--
		d.spend(0)
	}
}

// abort ends the play: waits return, no further step is run, and programs are killed. The first
// reason becomes Run.Hang.
func (d *director) abort(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abortLocked(why)
}

func (d *director) abortLocked(why error) {
	if d.abortErr != nil {
		return
	}
	d.abortErr = why
	close(d.aborted)
	for _, a := range d.aborters {
		go a.Abort(why)
	}
	go d.env.abort()
}

// isAborted reports whether the play was ended.
func (d *director) isAborted() bool {
	select {
	case <-d.aborted:
		return true
	default:
		return false
	}
}

// abortGrace is how long a call may take to return after the play was ended.
const abortGrace = 2 * time.Second

// dropEvent handles an event after the play was ended. In virtual time the listener takes no
// event until the session is closed, so that a subject that emits without a pause waits and time
// passes; it then takes a step's number of events, and no more. It reports false if it takes none.
func (d *director) dropEvent(dropped int) bool {
	if d.run.Tier == conformance.TierProcess {
		return true
	}
	<-d.ending
	return dropped < budgetEvents
}

// endAborted closes the session after the play was ended.
func (d *director) endAborted() {
	close(d.ending)
	if d.sess != nil {
		_ = d.callWithin(context.Background(), d.sess, fixtures.Step{Verb: fixtures.VerbClose}) // the run has its error already
		d.sess = nil
	}
}

// waitAborted waits for a call to return after the play was ended, up to a limit.
func (d *director) waitAborted(done <-chan struct{}) {
	limit := abortGrace
	if d.run.Tier == conformance.TierWitness {
		limit = d.env.stepLimit()
	}
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for pause := time.Microsecond; !d.env.runUntil(done); pause = min(2*pause, abortGrace) {
		select {
		case <-done:
			return
		case <-deadline.C:
			return
		case <-time.After(pause):
		}
	}
}
