package perform

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// actLimit is how long, in virtual time, an act of the subject may take once
// the stand-in has nothing more to say. It is longer than every limit of an
// adapter, so that an adapter's own time-out shows before ours.
const actLimit = 10 * time.Minute

// restLimit is how long, in real time, a play may take. A play takes
// milliseconds; a subject that spins, or waits for ever for a lock, never lets
// virtual time pass.
const RestLimit = 2 * time.Minute

// Play lets a subject perform a case against the stand-in, in virtual time. It
// never fails: what went wrong stands in the Run. What cannot be caught is a
// panic in a goroutine that the subject started.
func Play(s conformance.Subject, scn *fixtures.Scenario, c *fixtures.Case, harm *fault.Fault, lifecycle *fixtures.Lifecycle) *conformance.Run {
	return PlayWithin(RestLimit, s, c, harm, &Setting{Scenario: scn, Life: lifecycle})
}

// playWithin gives up on a play that does not come to rest: its goroutines stay.
func PlayWithin(limit time.Duration, s conformance.Subject, c *fixtures.Case, harm *fault.Fault, with *Setting) *conformance.Run {
	blank := func() *conformance.Run {
		return &conformance.Run{
			Tier: conformance.TierWitness, Subject: s.Name(), Runtime: c.Runtime, Version: c.Version,
			Scenario: with.Scenario, Case: c, Fault: harm, Witness: c.Witness,
		}
	}
	done := make(chan *conformance.Run, 1)
	r := blank()
	go func() {
		ended := false
		defer func() {
			// FailNow ends the goroutine: the race detector calls it, and so does a
			// subject that asserts inside.
			if !ended && r.Hang == "" {
				r.Hang = "the run was ended from within: by a data race, or by a failed assertion of the subject"
			}
			done <- r
		}()
		rehearse(r, s, with)
		ended = true
	}()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case r := <-done:
		return r
	case <-t.C:
		r := blank()
		r.Hang = fmt.Sprintf("the subject did not come to rest within %v of real time: it spins, or waits for a lock that nobody gives up", limit)
		return r
	}
}

func rehearse(r *conformance.Run, s conformance.Subject, with *Setting) {
	defer func() {
		// A bubble whose goroutines all wait for ever panics here: the verdict
		// is a hang of the subject, not a crash of the run.
		if p := recover(); p != nil {
			r.Hang = fmt.Sprint(p)
		}
	}()
	synctest.Test(&testing.T{}, func(*testing.T) {
		defer func() {
			if p := recover(); p != nil {
				r.Hang = fmt.Sprint("panic: ", p)
			}
		}()
		opts := standin.Options{Manual: true, Lifecycle: with.Life}
		if r.Fault != nil {
			r.Fault.ApplyTo(&opts)
		}
		play, err := with.newPlay(r.Case, opts)
		if err != nil {
			r.Harness = "stand-in: " + err.Error()
			return
		}
		st := &playStage{play: play, run: r, start: time.Now()}
		r.Played = make([]conformance.PlayedLine, 0, len(r.Case.Wire))
		d := &director{run: r, subject: s, stage: st, start: st.start}
		st.mu = &d.mu
		r.Start = st.start
		d.perform(context.Background())
		time.Sleep(cleanup) // of what was called and is not waited for
		r.LeftRunning = play.Running()
		r.ClientActions, r.Unrecorded, r.Violations = play.ClientActions(), play.Unrecorded(), play.Violations()
		r.RuntimeRequests, r.Started, r.Settings = play.RuntimeRequests(), play.Started(), play.Settings()
		r.ToRecorded = play.Recorded
		play.Close()
		synctest.Wait()
	})
}

// playStage lets the stand-in play, one line at a time, whenever the bubble is
// still.
type playStage struct {
	mu    *sync.Mutex // of the director: guards the run
	play  *standin.Play
	run   *conformance.Run
	start time.Time
}

// playEnv is the whole environment of the runtimes in play.
var PlayEnv = []string{"HOME=/play/home", "PATH=/bin"}

func (p *playStage) open(o conformance.Open) (conformance.Open, error) {
	o.Launch, o.Dir, o.Env = p.play.Launcher(), "/play/work", slices.Clone(PlayEnv)
	if h := p.run.Fault; h != nil && h.StartError != nil {
		o.Launch = proc.LauncherFunc(func(context.Context, proc.Command) (proc.Process, error) { return nil, h.StartError })
	}
	return o, nil
}

func (p *playStage) provider() string { return p.play.ProviderSessionID() }

// until plays what can be played, and returns when done is closed or the
// stand-in halts and nothing moves any more. Time stands still meanwhile, but
// for the recorded pauses.
func (p *playStage) until(done <-chan struct{}) bool {
	for {
		synctest.Wait()
		select {
		case <-done:
			return true
		default:
		}
		if !p.step() {
			return false
		}
	}
}

func (p *playStage) step() bool {
	at, ok := p.play.Next()
	for waited, nap := time.Duration(0), time.Millisecond; !ok; waited, nap = waited+nap, min(2*nap, time.Second) {
		// A subject that reads slowly fills the pipe: it is given time.
		if !p.play.State().Blocked || waited > actLimit {
			return false
		}
		time.Sleep(nap)
		synctest.Wait()
		at, ok = p.play.Next()
	}
	if d := at - time.Since(p.start); d > 0 {
		time.Sleep(d)
		synctest.Wait()
	}
	// The subject may have acted while time passed: what can be played now is
	// asked for again by Step.
	if !p.playLine() {
		return false
	}
	for p.run.Fault != nil && p.run.Fault.Burst && p.playLine() {
		continue
	}
	synctest.Wait()
	return true
}

// playLine plays a line and notes it in one go, so that each event that comes of
// the line finds it noted. Step never blocks.
func (p *playStage) playLine() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	st, ok := p.play.Step()
	if ok && st.Line != nil {
		p.run.Played = append(p.run.Played, conformance.PlayedLine{Line: *st.Line, At: time.Since(p.start)})
	}
	return ok
}

// reach plays up to the point that a wait names: in play that is the next act
// of the recording, since every act happened at its point.
func (p *playStage) reach(fixtures.Step) error {
	for p.step() {
	}
	synctest.Wait()
	return nil
}

// before lets the time of the recording pass up to the act.
func (p *playStage) before(fixtures.Step) {
	if b := p.play.State().Barrier; b != nil {
		if d := b.Line.T - time.Since(p.start); d > 0 {
			time.Sleep(d)
			synctest.Wait()
		}
	}
}

func (p *playStage) finished(act fixtures.Step) {
	if act.Verb == fixtures.VerbClose {
		return
	}
	_ = p.reach(act)
	// What is to be refused the subject may refuse by itself.
	if b := p.play.State().Barrier; act.Refused && b != nil && b.Kind == standin.KindSession {
		p.play.Skip()
		_ = p.reach(act)
	}
}

func (p *playStage) perform(act fixtures.Step) (bool, error) {
	switch act.Verb {
	case fixtures.VerbRelease, fixtures.VerbWrite, fixtures.VerbKill, fixtures.VerbAside:
		return true, nil // the recording holds what came of it
	}
	return false, nil
}

func (p *playStage) limit() time.Duration { return actLimit }

func (p *playStage) virtual() bool { return true }

func (p *playStage) unread() int { return p.play.Unread() }
