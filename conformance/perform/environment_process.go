package perform

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/relay"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// placed lets one play at a time be at a folder that stays.
var placed sync.Mutex

// The limits of a play in real time. Machines are slow now and then, and a play
// that goes well waits for none of them.
const (
	// processLimit is how long an act may take when nothing moves.
	processLimit = 60 * time.Second
	// processLate is how long nothing must have moved for a subject to have
	// nothing more to say: it may be a program that is just starting, or one that
	// others keep from its work.
	processLate = 8 * time.Second
	// processOther is the same where more cannot come, or hardly: the play halts
	// for another act than the next, or the subject has left the recording.
	processOther = time.Second
	// processCalm is how long nothing must have moved before a stop, so that it
	// falls on what the subject has told.
	processCalm = 300 * time.Millisecond
	// processOver is the same when the session's events have ended.
	processOver = 100 * time.Millisecond
	// processEnd is how long stand-ins may live when their session is closed.
	processEnd = 10 * time.Second
)

// PlayProcess lets a subject perform a case in real time: the stand-in is a
// process, which the subject, or a program that it is, starts. As Play it never
// fails.
func PlayProcess(s conformance.Subject, scn *fixtures.Scenario, c *fixtures.Case, harm *fault.Fault, lifecycle *fixtures.Lifecycle) *conformance.Run {
	return PlayProcessWith(s, c, harm, &Setting{Scenario: scn, Life: lifecycle})
}

func PlayProcessWith(s conformance.Subject, c *fixtures.Case, harm *fault.Fault, with *Setting) *conformance.Run {
	r := &conformance.Run{
		Tier: conformance.TierProcess, Subject: s.Name(), Runtime: c.Runtime, Version: c.Version,
		Scenario: with.Scenario, Case: c, Fault: harm, Witness: c.Witness,
	}
	opts := standin.Options{Manual: true, Lifecycle: with.Life}
	if harm != nil {
		harm.ApplyTo(&opts)
	}
	play, err := with.newPlay(c, opts)
	if err != nil {
		r.Harness = "stand-in: " + err.Error()
		return r
	}
	d := &director{run: r, subject: s, start: time.Now()}
	st := &processStage{d: d, play: play}
	d.stage = st
	st.moved()
	if p, is := s.(conformance.PlacedStandin); is && p.Standin() != "" {
		placed.Lock()
		defer placed.Unlock()
		st.post, err = relay.NewPostAt(p.Standin(), standin.ProgramName(c.Runtime), play.Launcher(), st.moved)
	} else {
		st.post, err = relay.NewPost(standin.ProgramName(c.Runtime), play.Launcher(), st.moved)
	}
	if err == nil {
		err = furnish(st.work(), with.Scenario.Workspace)
	}
	if err != nil {
		r.Harness = "stand-in: " + err.Error()
		play.Close()
		return r
	}
	var pump sync.WaitGroup
	pump.Go(st.pump)
	d.perform(context.Background())
	st.leave()
	r.ClientActions, r.Unrecorded, r.Violations = play.ClientActions(), play.Unrecorded(), play.Violations()
	r.RuntimeRequests, r.Started, r.Settings = play.RuntimeRequests(), play.Started(), play.Settings()
	r.ToRecorded = play.Recorded
	play.Close()
	pump.Wait()
	_ = st.post.Close() // a folder that stays is no verdict
	d.mu.Lock()
	d.over = true
	d.mu.Unlock()
	return r
}

// furnish writes the files of a scenario.
func furnish(dir string, files map[string][]byte) error {
	err := os.MkdirAll(dir, 0o755)
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644))
	}
	return err
}

// processStage lets the stand-in play whatever it may play at once: output halts
// at the acts of the recording all the same. A wait ends when the play has come
// to where the next act belongs, or when nobody has done anything for long.
type processStage struct {
	d    *director
	play *standin.Play
	post *relay.Post
	last atomic.Int64 // when something moved last, since the start

	// Of the director's goroutine:
	acts int                // how many acts of the scenario were begun, waits too
	from *fixtures.WireLine // the barrier at which the play stood when the last one was
}

func (p *processStage) moved() { p.last.Store(int64(time.Since(p.d.start))) }

// Lines that came apart come apart: a client that lags behind its runtime for a
// moment is no worse off than with the runtime. A gap from apart on is kept, up to
// apartMost.
const (
	apart     = 5 * time.Millisecond
	apartMost = 50 * time.Millisecond
)

// pace waits for the next line, unless a fault wants all at once.
func (p *processStage) pace(before time.Duration) time.Duration {
	at, ok := p.play.Next()
	if !ok {
		return before
	}
	if gap := at - before; gap >= apart && (p.d.run.Fault == nil || !p.d.run.Fault.Burst) {
		time.Sleep(min(gap, apartMost))
	}
	return at
}

// pump plays. A line is noted together with being played, so that each event
// that comes of it finds it noted.
func (p *processStage) pump() {
	var at time.Duration
	for p.play.Ready() {
		at = p.pace(at)
		p.d.mu.Lock()
		if st, ok := p.play.Step(); ok && st.Line != nil {
			p.d.run.Played = append(p.d.run.Played, conformance.PlayedLine{Line: *st.Line, At: time.Since(p.d.start)})
		}
		p.d.mu.Unlock()
		p.moved()
	}
}

func (p *processStage) work() string { return filepath.Join(p.post.Dir, "work") }

func (p *processStage) open(o conformance.Open) (conformance.Open, error) {
	o.Launch, o.Dir = proc.Exec{}, p.work()
	o.Command, o.Env = []string{p.post.Program}, p.post.Env(os.Environ())
	return o, nil
}

func (p *processStage) provider() string { return p.play.ProviderSessionID() }

func (p *processStage) limit() time.Duration { return processLimit }

func (p *processStage) virtual() bool { return false }

func (p *processStage) unread() int { return -1 }

// until waits for done, or until it has been quiet for long.
func (p *processStage) until(done <-chan struct{}) bool {
	for {
		p.d.mu.Lock()
		changed := p.d.changed
		p.d.mu.Unlock()
		quiet, limit := p.quiet(), processLate
		switch {
		case p.over():
			limit = processOver
		case len(p.play.Unrecorded()) > 0:
			limit = processOther
		}
		if quiet >= limit {
			select {
			case <-done:
				return true
			default:
				return false
			}
		}
		t := time.NewTimer(min(limit-quiet, processOver))
		select {
		case <-done:
			t.Stop()
			return true
		case <-changed:
			p.moved()
		case <-t.C:
		}
		t.Stop()
	}
}

// reach waits until the play has come to where the next act belongs.
func (p *processStage) reach(fixtures.Step) error {
	for p.quiet() < p.patience() {
		time.Sleep(time.Millisecond)
	}
	return nil
}

func (p *processStage) quiet() time.Duration {
	return time.Since(p.d.start) - time.Duration(p.last.Load())
}

// upcoming is the next act of the subject.
func (p *processStage) upcoming() (fixtures.Step, bool) {
	for _, a := range p.d.run.Scenario.Client[min(p.acts, len(p.d.run.Scenario.Client)):] {
		switch a.Verb {
		case fixtures.VerbWait, fixtures.VerbRelease, fixtures.VerbWrite, fixtures.VerbAside:
		default:
			return a, true
		}
	}
	return fixtures.Step{Verb: fixtures.VerbClose}, false
}

// halts are the acts of the wire at which a play halts for an act of a scenario.
var halts = map[fixtures.Verb][]standin.Kind{
	fixtures.VerbSend:   {standin.KindSend, standin.KindSteer},
	fixtures.VerbSteer:  {standin.KindSend, standin.KindSteer},
	fixtures.VerbAnswer: {standin.KindAnswer},
	fixtures.VerbStop:   {standin.KindStop},
	fixtures.VerbSet:    {standin.KindSet, standin.KindSend},
	fixtures.VerbClose:  {standin.KindClose},
	fixtures.VerbOpen:   {standin.KindClose, standin.KindOpen},
}

// patience is how long it must be quiet for the play to come no nearer to the
// next act: 0 when it is there.
func (p *processStage) patience() time.Duration {
	if _, more := p.play.Next(); more {
		return processLate
	}
	next, _ := p.upcoming()
	s := p.play.State()
	switch {
	case s.Finished, p.over():
		return 0
	case len(p.play.Unrecorded()) > 0:
		return processOther
	case s.AwaitSpawn && (next.Verb == fixtures.VerbOpen || next.Verb == fixtures.VerbKill):
		return 0
	case s.Barrier == nil || s.Barrier.Line == p.from:
		return processLate // the last act is still under way
	}
	if kinds, known := halts[next.Verb]; known && !slices.Contains(kinds, s.Barrier.Kind) {
		return processOther
	}
	return 0
}

// over reports whether the session's events have ended.
func (p *processStage) over() bool {
	p.d.mu.Lock()
	drained := p.d.drained
	p.d.mu.Unlock()
	select {
	case <-drained:
		return true
	default:
		return false
	}
}

func (p *processStage) before(act fixtures.Step) {
	if act.Verb == fixtures.VerbStop {
		p.calm() // it falls on what the subject has told, not on what it has yet to read
	}
	client := p.d.run.Scenario.Client
	for i := p.acts; i < len(client); i++ {
		if client[i].Line == act.Line && client[i].Verb == act.Verb {
			p.acts = i + 1
			break
		}
	}
	p.from = nil
	if b := p.play.State().Barrier; b != nil {
		p.from = b.Line
	}
	p.moved()
}

// calm waits until nothing has moved for a while, events neither.
func (p *processStage) calm() {
	p.moved()
	for p.quiet() < processCalm {
		p.d.mu.Lock()
		changed := p.d.changed
		p.d.mu.Unlock()
		t := time.NewTimer(processCalm - p.quiet())
		select {
		case <-changed:
			p.moved()
		case <-t.C:
		}
		t.Stop()
	}
}

func (p *processStage) finished(act fixtures.Step) {
	if !act.Refused {
		return
	}
	_ = p.reach(act)
	// What is to be refused the subject may refuse by itself.
	if b := p.play.State().Barrier; b != nil && b.Kind == standin.KindSession {
		p.play.Skip()
		_ = p.reach(act)
	}
}

func (p *processStage) perform(act fixtures.Step) (bool, error) {
	switch act.Verb {
	case fixtures.VerbRelease, fixtures.VerbWrite, fixtures.VerbKill, fixtures.VerbAside:
		return true, nil // the recording holds what came of it
	}
	return false, nil
}

// leave waits until no stand-in runs any more, and notes those that stay.
func (p *processStage) leave() {
	deadline := time.Now().Add(processEnd)
	for p.post.Running() > 0 && time.Now().Before(deadline) {
		time.Sleep(look)
	}
	p.d.run.LeftRunning = p.post.Running()
}
