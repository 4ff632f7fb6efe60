package perform

import (
	"context"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// EndLimit is how long a subject may take to report that the runtime has ended,
// or that a turn was stopped. Adapters give a process some seconds to end.
const EndLimit = 15 * time.Second

// StallLimit is how long a subject may take to report that a running runtime emits
// nothing more: it has to distinguish that from a slow one.
const StallLimit = 5 * time.Minute

// PromptLimit is how long a subject may take for what it must do at once, such as a
// reply that depends on nothing else.
const PromptLimit = time.Second

// idleWait is how long the director waits for events of the subject after nothing
// moves in the environment any more. If the fault has ended the runtime, the
// subject gets the time to notice.
func (d *director) idleWait() time.Duration {
	switch f := d.run.Fault; {
	case f == nil || f.Kind != fault.Terminal:
		return d.pauseLimit()
	case f.Hangs && !d.faultPlayed():
		return d.pauseLimit()
	case f.Hangs:
		return d.onlyOnce(d.run.StallWait)
	}
	return d.onlyOnce(EndLimit)
}

// pauseLimit is how long a subject may be idle that is to act by itself: a second, and a second
// more than the recorded client if it waited longer than that before a line of its own, as after
// a reply that names the time of the next attempt.
func (d *director) pauseLimit() time.Duration {
	limit := time.Second
	if d.run.Case == nil {
		return limit
	}
	wire := d.run.Case.Wire
	for i := 1; i < len(wire); i++ {
		if pause := wire[i].T - wire[i-1].T; wire[i].Dir == fixtures.In && wire[i-1].Dir == fixtures.Out && pause > time.Second {
			limit = max(limit, pause+time.Second)
		}
	}
	return min(limit, maxPause)
}

// maxPause bounds pauseLimit.
const maxPause = time.Minute

// onlyOnce returns the limit of a wait for what the fault did. Real time is not wasted on
// a second wait if a first one was in vain.
func (d *director) onlyOnce(limit time.Duration) time.Duration {
	if d.waitedOnce && d.run.Tier == conformance.TierProcess {
		return min(limit, time.Second)
	}
	return limit
}

// waitUntil waits until cond holds, or the subject has emitted no event for the
// idle time. It returns at once if cond holds, and in real time also if the events of the
// session have ended, as after a signal that ended the program.
func (d *director) waitUntil(cond func() bool, idle time.Duration) {
	for {
		event, faulty := d.nextEvent(), d.faultPlayed()
		ended := d.run.Tier == conformance.TierProcess && d.eventsEnded()
		if cond() || ended || d.isAborted() {
			return
		}
		if !d.waitDone(context.Background(), event, idle) {
			d.waitedOnce = d.waitedOnce || faulty && idle > time.Second
			return
		}
	}
}

// eventsEnded reports whether the session's events have ended.
func (d *director) eventsEnded() bool {
	d.mu.Lock()
	drained := d.drained
	d.mu.Unlock()
	select {
	case <-drained:
		return true
	default:
		return false
	}
}

// faultPlayed reports whether the line was played at which the fault happens.
func (d *director) faultPlayed() bool {
	return d.run.Fault != nil && d.linePlayed(d.run.Fault.Line)
}

// nextEvent returns a channel that is closed at the next event.
func (d *director) nextEvent() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed
}

// waitDone waits for done while the environment moves, and then for limit. A
// timer of the subject may make it act again, so the environment is checked again
// at increasing intervals.
func (d *director) waitDone(ctx context.Context, done <-chan struct{}, limit time.Duration) bool {
	if d.env.runUntil(done) {
		return true
	}
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for pause := time.Microsecond; ; pause *= 2 {
		select {
		case <-done:
			return true
		case <-ctx.Done():
			return false
		case <-d.aborted:
			return false
		case <-deadline.C:
			return false
		case <-time.After(pause):
			if d.env.runUntil(done) {
				return true
			}
		}
	}
}

// eventsReached reports whether the events show the point that a wait names, as
// far as events can.
func (d *director) eventsReached(wait fixtures.Step) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	scn := d.run.Scenario
	switch wait.What {
	case "ask":
		_, ok := d.question(wait)
		return ok
	case "end":
		return isAside(scn, wait.ID) || messageEnded(d.run.Events, wait.ID)
	case "idle":
		return allEnded(d.run.Events)
	case "hold":
		return scn.InSummary(wait.ID) || holdIsHidden(scn, wait.ID) || textEndsWith(d.run.Events, textBeforeHold(scn, wait.ID))
	}
	return true
}

// waitedFor describes the point of a wait, and the events that show it.
func waitedFor(wait fixtures.Step) string {
	switch wait.What {
	case "ask":
		return "a question (permission_request or interrupt)"
	case "end":
		return "the end of the turn of message " + wait.ID + " (turn_start.message_ids must name it; then done or error)"
	case "idle":
		return "the end of all turns and tasks (done or error)"
	case "hold":
		return "the text before point " + wait.ID + " (delta)"
	}
	return wait.What + " " + wait.ID
}

// linePlayed reports whether a line of the case's file was played.
func (d *director) linePlayed(line int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.run.Played, func(p conformance.PlayedLine) bool { return p.Line.Line == line })
}

// faultEndedProcess reports whether the fault has ended a process.
func (d *director) faultEndedProcess() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.run.Fault != nil && slices.ContainsFunc(d.run.Played, func(p conformance.PlayedLine) bool {
		return d.run.Fault.EndsProcess(p.Line)
	})
}

// faultEndedSession reports whether the session of a run with a fault has ended by
// itself.
func (d *director) faultEndedSession() bool {
	d.mu.Lock()
	open := d.sess != nil
	d.mu.Unlock()
	return d.run.Fault != nil && open && d.sessionEnded()
}

// sessionEnded reports whether session_end is the last event of the session.
func (d *director) sessionEnded() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.run.Events)
	return n > d.eventsBefore && d.run.Events[n-1].Type() == event.TypeSessionEnd
}

// stepContext returns the context of a step. A fault may bound how long the client
// waits. The close of a session is never cut short, unless the fault blocks the
// listener.
func (d *director) stepContext(ctx context.Context, s fixtures.Step) (context.Context, context.CancelFunc) {
	f := d.run.Fault
	closes := s.Verb == fixtures.VerbClose || s.Verb == fixtures.VerbArchive
	switch {
	case f == nil || f.ListenerBlocked != closes:
	case f.ClientTimeout != 0:
		return context.WithTimeout(ctx, f.ClientTimeout)
	case f.ListenerBlocked:
		ctx = context.WithoutCancel(ctx)
	}
	return ctx, func() {}
}

// closeKilled gives the subject time to notice that its runtime was killed, and then
// closes the session. The checks judge whether it reported the end by itself.
func (d *director) closeKilled(ctx context.Context) {
	d.waitUntil(d.sessionEnded, d.onlyOnce(EndLimit))
	if d.sess == nil {
		return
	}
	d.run.ClosedAfterKill = true
	_ = d.callWithin(ctx, d.sess, fixtures.Step{Verb: fixtures.VerbClose})
	d.sess = nil
	_ = d.waitDrained()
}

// lateMessage is the id of the message that is sent to a session that has ended.
const lateMessage = "late"

// callEnded calls Send, Stop and Close on a session that has ended, as a client
// that has not noticed would.
func (d *director) callEnded(ctx context.Context, sess adapters.Session) {
	if !d.callsAfterEnd {
		return
	}
	for _, s := range []fixtures.Step{
		{Verb: fixtures.VerbSend, ID: lateMessage, Text: "Is anybody there?"},
		{Verb: fixtures.VerbStop},
		{Verb: fixtures.VerbClose},
	} {
		at := time.Since(d.start)
		err := d.callWithin(ctx, sess, s)
		d.mu.Lock()
		d.run.StepsAfterEnd = append(d.run.StepsAfterEnd, conformance.StepResult{Step: s, At: at, For: time.Since(d.start) - at, Err: err})
		d.mu.Unlock()
		if Unfinished(err) {
			return
		}
	}
}

// StopTwice is a step for Check.AlternateSteps: the client stops the turn by two calls at
// the same time.
var StopTwice = fixtures.Step{Verb: fixtures.VerbStop, What: "twice"}

// LongIdle is a step for Check.AlternateSteps: the client does nothing for longer
// than every limit of an adapter.
var LongIdle = fixtures.Step{Verb: fixtures.VerbWait, What: "long"}

const longIdleTime = 15 * time.Minute

// idleLong lets the time of LongIdle pass.
func (d *director) idleLong() {
	d.mu.Lock()
	d.run.Steps = append(d.run.Steps, conformance.StepResult{Step: LongIdle, At: time.Since(d.start), For: longIdleTime})
	d.mu.Unlock()
	time.Sleep(longIdleTime)
}
