package perform

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// EndLimit is how long a subject may take to tell that the runtime is gone, or
// that a turn was stopped. Adapters give a process some seconds to end.
const EndLimit = 15 * time.Second

// StallLimit is how long a subject may take to tell that a runtime which lives
// says nothing more: it has to tell it from one that is slow.
const StallLimit = 5 * time.Minute

// patience is how long a subject may say nothing, once the stage is still,
// before the director goes on without what it waits for. Where the runtime may
// be dead it gets the time to notice.
func (d *director) patience() time.Duration {
	switch h := d.run.Fault; {
	case h == nil || h.Kind != fault.Terminal:
		return time.Second
	case h.Hangs && d.reached(h.Line):
		return StallLimit
	case h.Hangs:
		return time.Second
	}
	return EndLimit
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
		if !d.linger(context.Background(), changed, patience) {
			return
		}
	}
}

// linger waits for done, for as long as the stage moves and then for patience. A
// subject may act when a time of its own has come, so the stage is looked at
// again, at growing distances.
func (d *director) linger(ctx context.Context, done <-chan struct{}, patience time.Duration) bool {
	if d.stage.until(done) {
		return true
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for nap := time.Microsecond; ; nap *= 2 {
		select {
		case <-done:
			return true
		case <-ctx.Done():
			return false
		case <-limit.C:
			return false
		case <-time.After(nap):
			if d.stage.until(done) {
				return true
			}
		}
	}
}

// shows reports whether the events show what a wait names, as far as events do.
func (d *director) shows(wait fixtures.Step) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch wait.What {
	case "ask":
		_, ok := d.question(wait)
		return ok
	case "end":
		return aside(d.run.Scenario, wait.ID) || messageEnded(d.run.Events, wait.ID)
	case "idle":
		return allEnded(d.run.Events)
	case "hold":
		text, _ := saidSoFar(d.run.Events)
		return d.run.Scenario.InSummary(wait.ID) || asideHold(d.run.Scenario, wait.ID) || strings.HasSuffix(text, saidBefore(d.run.Scenario, wait.ID))
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

// reached reports whether a line of the case's file was played.
func (d *director) reached(line int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.run.Played, func(p conformance.PlayedLine) bool { return p.Line.Line == line })
}

// struck reports whether the harm has ended a process.
func (d *director) struck() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.run.Fault != nil && slices.ContainsFunc(d.run.Played, func(p conformance.PlayedLine) bool {
		return d.run.Fault.EndsProcess(p.Line)
	})
}

// died reports whether a harmed session has ended by itself.
func (d *director) died() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.run.Events)
	return d.run.Fault != nil && d.sess != nil && n > d.begun && d.run.Events[n-1].Type() == event.TypeSessionEnd
}

// patient is the context of an act: that of a client who does not wait for ever
// ends. To close a session takes what it takes, unless nobody listens.
func (d *director) patient(ctx context.Context, act fixtures.Step) (context.Context, context.CancelFunc) {
	h := d.run.Fault
	closes := act.Verb == fixtures.VerbClose || act.Verb == fixtures.VerbArchive
	switch {
	case h == nil || h.ListenerBlocked != closes:
	case h.ClientTimeout != 0:
		return context.WithTimeout(ctx, h.ClientTimeout)
	case h.ListenerBlocked:
		ctx = context.WithoutCancel(ctx)
	}
	return ctx, func() {}
}

// deafen keeps the listener from taking events, from the place of the harm on and
// until the session was closed.
func (d *director) deafen() {
	if h := d.run.Fault; h != nil && h.ListenerBlocked && d.reached(h.Line) {
		<-d.gone
	}
}
