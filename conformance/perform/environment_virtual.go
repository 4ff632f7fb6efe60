package perform

import (
	"cmp"
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
	"github.com/turnspec/turnspec/fakes/servers"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// virtualStepLimit is how long, in virtual time, a step may take after the
// stand-in has nothing more to play. It is longer than every limit of an adapter,
// so an adapter's own time-out shows first.
const virtualStepLimit = 10 * time.Minute

// DefaultRealTimeLimit is how long, in real time, a replay in virtual time may
// take. It takes milliseconds, unless the subject spins or waits for a lock:
// virtual time then never passes.
const DefaultRealTimeLimit = 2 * time.Minute

// Virtual lets a subject perform a case against the stand-in, in virtual time. It
// never fails: errors are part of the Run. It cannot catch a panic in a
// goroutine that the subject started, which ends the program.
//
// Virtual gives up when the real-time limit has passed. The goroutines of the
// replay then leak.
func Virtual(s conformance.Subject, rec Recording, f *fault.Fault) *conformance.Run {
	limit := rec.RealTimeLimit
	if limit <= 0 {
		limit = DefaultRealTimeLimit
	}
	done := make(chan *conformance.Run, 1)
	r := newRun(conformance.TierWitness, s, rec, f)
	go func() {
		returned := false
		defer func() {
			// FailNow exits the goroutine. The race detector calls it, and so does a
			// subject that asserts.
			if !returned && r.Hang == "" {
				r.Hang = "the run was ended from within: by a data race, or by a failed assertion of the subject"
			}
			done <- r
		}()
		runInBubble(r, s, rec)
		returned = true
	}()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case r := <-done:
		return r
	case <-t.C:
		r := newRun(conformance.TierWitness, s, rec, f)
		r.Hang = fmt.Sprintf("the subject did not come to rest within %v of real time: it spins, or waits for a lock that is never released", limit)
		return r
	}
}

func runInBubble(r *conformance.Run, s conformance.Subject, rec Recording) {
	defer func() {
		// synctest panics if all goroutines of the bubble are blocked forever. That is
		// a hang of the subject, not a crash of the harness.
		if p := recover(); p != nil {
			r.Hang = cmp.Or(r.Hang, fmt.Sprint(p))
		}
	}()
	synctest.Test(&testing.T{}, func(*testing.T) {
		defer func() {
			if p := recover(); p != nil {
				r.Hang = fmt.Sprint("panic: ", p)
			}
		}()
		play, err := rec.newPlay(r.Fault)
		if err != nil {
			r.Harness = "stand-in: " + err.Error()
			return
		}
		env := &virtualEnvironment{play: play, run: r, start: time.Now(), launch: play.Launcher()}
		r.Played = make([]conformance.PlayedLine, 0, len(r.Case.Wire))
		d := &director{run: r, subject: s, env: env, start: env.start, callsAfterEnd: true}
		for _, o := range rec.Observers {
			d.observations = append(d.observations, observation{o, o.Observe()})
		}
		env.mu, env.played = &d.mu, d.raceAt
		d.init()
		if m := servers.Get(); m != nil && clientStartsServers(r) {
			local := m.Local(r.Scenario.Servers, env.launch, d.calls.awaitFile)
			defer func() { _ = local.Close() }() // what the subject has left open
			env.launch = local
		}
		r.Start, r.Began, r.GivenEnv = env.start, env.start, virtualEnv
		d.runScenario(context.Background())
		time.Sleep(cleanupTime) // cancelled calls take this long to return
		r.LeftRunning = play.Running()
		recordPlay(r, play)
		r.Transcribe = transcriptOf(s, r)
		play.Close()
		synctest.Wait()
	})
}

// virtualEnvironment plays one line of the stand-in at a time, whenever the bubble
// is idle.
type virtualEnvironment struct {
	mu     *sync.Mutex                   // the director's: guards the run
	played func(line *fixtures.WireLine) // called after each line
	play   *standin.Play
	run    *conformance.Run
	start  time.Time
	launch proc.Launcher // starts the stand-in, and the servers of a client that starts them itself
	recordedEffects
}

// virtualEnv is the whole environment of runtimes in virtual time.
var virtualEnv = []string{"HOME=/play/home", "PATH=/bin"}

func (v *virtualEnvironment) prepareOpen(o conformance.Open) conformance.Open {
	o.Launch, o.Dir, o.Env = v.launch, "/play/work", slices.Clone(virtualEnv)
	if f := v.run.Fault; f != nil && f.StartError != nil {
		o.Launch = proc.LauncherFunc(func(context.Context, proc.Command) (proc.Process, error) { return nil, f.StartError })
	}
	return o
}

func (v *virtualEnvironment) playedID(id string) string { return v.play.Played(id) }

func (v *virtualEnvironment) providerID() string { return v.play.ProviderSessionID() }

// runUntil plays lines until done is closed, or until the stand-in waits and
// nothing moves any more. Only the recorded pauses take virtual time.
func (v *virtualEnvironment) runUntil(done <-chan struct{}) bool {
	for {
		synctest.Wait()
		select {
		case <-done:
			return true
		default:
		}
		if !v.playNext() {
			return false
		}
	}
}

func (v *virtualEnvironment) playNext() bool {
	at, ok := v.play.Next()
	for waited, pause := time.Duration(0), time.Millisecond; !ok; waited, pause = waited+pause, min(2*pause, time.Second) {
		// A subject that reads slowly fills the pipe. It gets time to read.
		if !v.play.State().Blocked || waited > virtualStepLimit {
			return false
		}
		time.Sleep(pause)
		synctest.Wait()
		at, ok = v.play.Next()
	}
	if d := at - time.Since(v.start); d > 0 {
		time.Sleep(d)
		synctest.Wait()
	}
	// The subject may have acted while time passed, so playLine checks again which line
	// can be played.
	if !v.playLine() {
		return false
	}
	for v.run.Fault != nil && v.run.Fault.Burst && v.playLine() {
		continue
	}
	synctest.Wait()
	return true
}

// playLine plays a line and records it under one lock, so that each event that the
// line causes finds it recorded. Step never blocks.
func (v *virtualEnvironment) playLine() bool {
	v.mu.Lock()
	st, ok := v.play.Step()
	if ok && st.Line != nil {
		v.run.Played = append(v.run.Played, conformance.PlayedLine{Line: *st.Line, At: time.Since(v.start)})
	}
	v.mu.Unlock()
	v.played(st.Line)
	return ok
}

// Wait plays up to the next step of the recording: there every step was taken at
// its point.
func (v *virtualEnvironment) Wait(context.Context, fixtures.Step) error {
	v.playAll()
	return nil
}

// Release lets the stand-in go on.
func (v *virtualEnvironment) Release(_ context.Context, hold string) error {
	v.play.Release(hold)
	return nil
}

func (v *virtualEnvironment) playAll() {
	for v.playNext() {
	}
	synctest.Wait()
}

// beforeStep lets the recorded time pass up to the step.
func (v *virtualEnvironment) beforeStep(fixtures.Step) {
	if b := v.play.State().Barrier; b != nil {
		if d := b.Line.T - time.Since(v.start); d > 0 {
			time.Sleep(d)
			synctest.Wait()
		}
	}
}

func (v *virtualEnvironment) afterStep(s fixtures.Step) {
	if s.Verb == fixtures.VerbClose {
		return
	}
	v.playAll()
	if skipRefused(v.play, s) {
		v.playAll()
	}
}

func (v *virtualEnvironment) stepLimit() time.Duration { return virtualStepLimit }

func (v *virtualEnvironment) unreadBytes() int { return v.play.Unread() }
