package perform

import (
	"context"
	"slices"
	"time"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/steps"
)

// runUntil waits for done, or until nothing has moved for long.
func (p *processEnvironment) runUntil(done <-chan struct{}) bool {
	for !p.d.isAborted() {
		changed := p.d.nextEvent()
		idle := idleTime
		switch {
		case p.d.eventsEnded():
			idle = idleTimeDrained
		case len(p.play.Unrecorded()) > 0:
			idle = idleTimeAstray
		case p.standinWaits():
			idle = p.idleTimeBehind()
		}
		unmoved := p.unmovedFor()
		if unmoved >= idle {
			select {
			case <-done:
				return true
			default:
				return false
			}
		}
		if p.waitMove(changed, done, min(idle-unmoved, idleTimeDrained)) {
			return true
		}
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// standinWaits reports whether the stand-in has written all that it writes before the
// next step.
func (p *processEnvironment) standinWaits() bool {
	_, more := p.play.Next()
	s := p.play.State()
	return !more && (s.Finished || s.Barrier != nil)
}

// lagFactor is how many times longer than ever before in its session a subject may
// take for its next event.
const lagFactor = 8

// idleTimeBehind is how long nothing must have moved before no further events are
// expected although the stand-in waits. A subject that cannot report the point that a
// step waits for would otherwise take idleTime at each such step.
func (p *processEnvironment) idleTimeBehind() time.Duration {
	lag := time.Duration(p.lag.Load())
	if lag == 0 {
		return idleTime // it has not emitted anything yet
	}
	return min(max(lagFactor*lag, idleTimeAstray), idleTime)
}

// recordLag records how long the session took for an event.
func (p *processEnvironment) recordLag() {
	p.d.mu.Lock()
	open := p.d.sess != nil
	p.d.mu.Unlock()
	// An event may come within the transfer time of its line.
	if lag := max(int64(p.unmovedFor()), 1); open && lag > p.lag.Load() {
		p.lag.Store(lag)
	}
}

// waitMove waits for an event, for done, or for a time. It reports whether done is
// closed.
func (p *processEnvironment) waitMove(event, done <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-event:
		p.recordLag()
		p.moved()
	case <-p.d.aborted:
	case <-t.C:
	}
	if p.unmovedFor() < idleTimeAstray {
		p.d.spendTime()
	}
	return false
}

// Wait waits until the stand-in waits for the scenario's next step.
func (p *processEnvironment) Wait(context.Context, fixtures.Step) error {
	p.waitBarrier()
	return nil
}

// Release lets the stand-in go on.
func (p *processEnvironment) Release(_ context.Context, hold string) error {
	p.play.Release(hold)
	p.moved()
	return nil
}

func (p *processEnvironment) waitBarrier() {
	for p.unmovedFor() < p.idleBeforeNext() && !p.d.isAborted() {
		p.waitMove(p.d.nextEvent(), nil, time.Millisecond)
	}
}

// nextStep returns the next step of the session, or kill; behind the last one, the close.
func (p *processEnvironment) nextStep() fixtures.Step {
	client := p.d.run.Scenario.Client
	for _, s := range client[min(p.begun, len(client)):] {
		if !steps.OfEnvironment(s) || s.Verb == fixtures.VerbKill {
			return s
		}
	}
	return fixtures.Step{Verb: fixtures.VerbClose}
}

// barrierKinds are the client's actions on the wire at which the stand-in waits
// for a step of a scenario.
var barrierKinds = map[fixtures.Verb][]standin.Kind{
	fixtures.VerbSend:   {standin.KindSend, standin.KindSteer},
	fixtures.VerbSteer:  {standin.KindSend, standin.KindSteer},
	fixtures.VerbAnswer: {standin.KindAnswer},
	fixtures.VerbStop:   {standin.KindStop},
	fixtures.VerbSet:    {standin.KindSet, standin.KindSend},
	fixtures.VerbClose:  {standin.KindClose},
	fixtures.VerbOpen:   {standin.KindClose, standin.KindOpen},
}

// idleBeforeNext is how long nothing must have moved for the stand-in to come no
// nearer to the next step; 0 if it waits for that step already.
func (p *processEnvironment) idleBeforeNext() time.Duration {
	if _, more := p.play.Next(); more {
		return idleTime
	}
	next := p.nextStep()
	s := p.play.State()
	switch {
	case s.Finished, p.d.eventsEnded():
		return 0
	case len(p.play.Unrecorded()) > 0:
		return idleTimeAstray
	case s.Barrier != nil && s.Barrier.Kind == standin.KindRelease:
		return 0 // no step before the release is seen on the wire
	case s.AwaitSpawn && (next.Verb == fixtures.VerbOpen || next.Verb == fixtures.VerbKill):
		return 0
	case s.Barrier != nil && s.Barrier.Line == p.from && p.isUnseen(s.Barrier.Kind, next):
		return idleTimeAstray
	case s.Barrier == nil || s.Barrier.Line == p.from:
		return idleTime // the last step is still under way
	}
	if kinds, known := barrierKinds[next.Verb]; known && !slices.Contains(kinds, s.Barrier.Kind) {
		return idleTimeAstray
	}
	return 0
}

// isUnseen reports whether the recorded runtime did not see the last step that began: the
// stand-in waits for the next one, as it does after a stop that was repeated.
func (p *processEnvironment) isUnseen(barrier standin.Kind, next fixtures.Step) bool {
	if p.begun == 0 {
		return false
	}
	seenAt, known := barrierKinds[p.d.run.Scenario.Client[p.begun-1].Verb]
	return known && !slices.Contains(seenAt, barrier) && slices.Contains(barrierKinds[next.Verb], barrier)
}
