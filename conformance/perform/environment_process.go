package perform

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/relay"
	"github.com/turnspec/turnspec/fakes/servers"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// The limits of a replay in real time. They are generous, because a machine may be
// slow. A replay that goes well waits for none of them.
const (
	// processStepLimit is how long a step may take after nothing moves any more.
	processStepLimit = 60 * time.Second
	// idleTime is how long nothing must have moved before the subject is considered
	// idle. It may be a program that is just starting, or that gets no processor.
	idleTime = 8 * time.Second
	// idleTimeAstray replaces idleTime if few or no further events are possible: the
	// stand-in waits for another step than the next one, or the subject left the recording.
	idleTimeAstray = time.Second
	// idleTimeDrained replaces idleTime after the session's events have ended.
	idleTimeDrained = 100 * time.Millisecond
	// idleTimeBeforeStop is how long nothing must have moved before a stop, so that the
	// subject has emitted what it read.
	idleTimeBeforeStop = 300 * time.Millisecond
	// exitLimit is how long stand-ins may run after their session was closed.
	exitLimit = 10 * time.Second
)

// pollTime is the interval at which a state without a notification, such as a file,
// is polled.
const pollTime = 5 * time.Millisecond

// placedMu serializes the replays that use the stand-in in a permanent folder.
var placedMu sync.Mutex

// Process lets a subject perform a case in real time. The stand-in is a process,
// which the subject, or its program, starts. Like Virtual it never fails. If the subject
// declines the scenario, the run has that step only. If ctx ends, Process kills what the subject
// is and has started, and returns within seconds.
func Process(ctx context.Context, s conformance.Subject, rec Recording, f *fault.Fault) *conformance.Run {
	r := newRun(conformance.TierProcess, s, rec, f)
	if d, is := s.(conformance.Decliner); is {
		if step, err := d.Declines(rec.Scenario); err != nil {
			r.Steps = []conformance.StepResult{{Step: step, Err: err}}
			return r
		}
	}
	play, err := rec.newPlay(f)
	if err != nil {
		r.Harness = "stand-in: " + err.Error()
		return r
	}
	d := &director{run: r, subject: s, start: time.Now(), limits: rec.Limits}
	r.Began, r.StallWait = d.start, stallWait(rec.Limits)
	env := &processEnvironment{d: d, play: play}
	d.env = env
	d.init()
	env.moved()
	program := standin.ProgramName(rec.Case.Runtime)
	if p, is := s.(conformance.PlacedStandin); is && p.Standin() != "" {
		placedMu.Lock()
		defer placedMu.Unlock()
		env.post, err = relay.NewPostAt(p.Standin(), program, play.Launcher(), env.moved)
	} else {
		env.post, err = relay.NewPost(program, play.Launcher(), env.moved)
	}
	if err == nil {
		err = WriteFiles(env.workDir(), rec.Scenario.Workspace)
	}
	if err == nil && clientStartsServers(r) && servers.Get() != nil {
		err = env.installServers()
		defer env.removeServers()
	}
	if err != nil {
		r.Harness = "stand-in: " + err.Error()
		play.Close()
		return r
	}
	var player sync.WaitGroup
	player.Go(env.playLines)
	stop := context.AfterFunc(ctx, func() { d.abort(context.Cause(ctx)) })
	defer stop()
	d.runScenario(ctx)
	r.LeftRunning = env.waitExit()
	r.Took = time.Since(d.start)
	recordPlay(r, play)
	play.Close()
	player.Wait()
	_ = env.post.Close() // a failure to remove the folder does not affect the verdict
	d.mu.Lock()
	d.finished = true
	d.mu.Unlock()
	return r
}

// stallWait returns how long a subject in real time may take to report that the
// runtime emits nothing more. If the subject takes no limits, the run does not wait for it.
func stallWait(l *adapters.Limits) time.Duration {
	if l == nil {
		return time.Second
	}
	return 2*(l.Idle+l.Request) + 2*time.Second
}

// WriteFiles writes the files of a scenario into a folder.
func WriteFiles(dir string, files map[string][]byte) error {
	err := os.MkdirAll(dir, 0o755)
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644))
	}
	return err
}

// processEnvironment lets the stand-in play all lines that it can play at once; it
// still halts at the recorded steps. A wait ends when the stand-in waits for the
// next step, or when nothing has moved for long.
type processEnvironment struct {
	d    *director
	play *standin.Play
	post *relay.Post
	last atomic.Int64 // when something moved last, since the start
	lag  atomic.Int64 // the longest time that the open session took for an event after the last move
	recordedEffects
	servers  ownServers   // of a client that starts them itself
	waited   atomic.Int64 // what playTime returns
	programs programs

	// Of the director's goroutine:
	begun int                // index behind the last step of the scenario that began, including waits
	from  *fixtures.WireLine // the barrier at which the stand-in waited at that time
}

func (p *processEnvironment) moved() { p.movedUntil(time.Since(p.d.start)) }

// movedUntil sets the time of the last move, since the start, unless a later one is known.
func (p *processEnvironment) movedUntil(at time.Duration) {
	for {
		last := p.last.Load()
		if int64(at) <= last || p.last.CompareAndSwap(last, int64(at)) {
			return
		}
	}
}

// unmovedFor returns how long nothing has moved, or 0 while a line may still be on its way.
func (p *processEnvironment) unmovedFor() time.Duration {
	return max(0, time.Since(p.d.start)-time.Duration(p.last.Load()))
}

// How long a line may be on its way from the stand-in to the subject, on a slow machine: a fault
// may write each of 264,000 bytes alone, or a line of 65 MB.
const (
	timePerWrite = 100 * time.Microsecond
	timePerByte  = 100 * time.Nanosecond
	timePerLine  = 5 * time.Millisecond // until the subject has read it and gone on
)

// transferTime returns how long a line may be on its way.
func transferTime(line []byte, chunk func([]byte) [][]byte) time.Duration {
	writes := 1
	if chunk != nil {
		writes = len(chunk(line))
	}
	return time.Duration(writes)*timePerWrite + time.Duration(len(line))*timePerByte
}

// Lines recorded as separate writes are played as separate writes. A gap of at
// least minGap is kept, up to maxGap, so that a client that lags behind briefly has
// as much time as with the real runtime.
const (
	minGap = 5 * time.Millisecond
	maxGap = 50 * time.Millisecond
)

// sleepGap waits until the next line is due, unless the fault wants a burst. It
// returns the recorded time of that line.
func (p *processEnvironment) sleepGap(before time.Duration) time.Duration {
	at, ok := p.play.Next()
	if !ok {
		return before
	}
	switch gap := at - before; {
	case p.d.run.Fault != nil && p.d.run.Fault.Burst:
	case gap >= time.Minute && p.d.limits != nil: // longer than the subject's limits
		t := time.NewTimer(2 * (p.d.limits.Idle + p.d.limits.Request))
		defer t.Stop()
		select {
		case <-t.C:
		case <-p.d.aborted:
		}
	case gap >= minGap:
		time.Sleep(min(gap, maxGap))
	}
	return at
}

// playLines plays until the play is closed. A line is recorded under the lock
// under which it is played, so that each event that it causes finds it recorded.
func (p *processEnvironment) playLines() {
	var at time.Duration
	for p.play.Ready() {
		began := time.Now()
		at = p.sleepGap(at)
		transfer := time.Duration(0)
		p.d.mu.Lock()
		st, ok := p.play.Step()
		if ok && st.Line != nil {
			p.d.run.Played = append(p.d.run.Played, conformance.PlayedLine{Line: *st.Line, At: time.Since(p.d.start)})
			transfer = transferTime(st.Line.Bytes, p.chunk())
			if len(p.d.run.Played) <= 2*len(p.d.run.Case.Wire) { // else the subject never stops asking
				p.waited.Add(int64(time.Since(began) + transfer + timePerLine))
			}
		}
		p.d.mu.Unlock()
		p.d.raceAt(st.Line)
		p.movedUntil(time.Since(p.d.start) + transfer)
	}
}

// chunk returns how the fault cuts what is written to stdout; nil: it does not.
func (p *processEnvironment) chunk() func([]byte) [][]byte {
	if f := p.d.run.Fault; f != nil {
		return f.Chunk
	}
	return nil
}

// ownServers are the MCP servers of a scenario that the subject starts or connects to itself.
type ownServers struct {
	dir     string // of the programs; "": there are none
	address string // of those that run already
	remote  io.Closer
}

// installServers makes the servers that a client starts itself.
func (p *processEnvironment) installServers() (err error) {
	if p.servers.dir, err = os.MkdirTemp("", "turnspec-servers-*"); err != nil {
		return err
	}
	m := servers.Get()
	if err = m.Install(p.servers.dir, p.d.run.Scenario.Servers); err != nil {
		return err
	}
	p.servers.address, p.servers.remote, err = m.Listen("127.0.0.1:0", p.d.run.Scenario.Servers)
	return err
}

func (p *processEnvironment) removeServers() {
	if p.servers.remote != nil {
		_ = p.servers.remote.Close() // what the subject has left open
	}
	_ = os.RemoveAll(p.servers.dir) // a folder that stays changes no verdict
}

// addServers lets the subject find the servers: those that it starts are in its PATH.
func (p *processEnvironment) addServers(o *conformance.Open) {
	if p.servers.dir == "" {
		return
	}
	path := wire.Getenv(o.Env, "PATH")
	o.Env = append(slices.Clip(o.Env), strings.TrimSuffix("PATH="+p.servers.dir+string(os.PathListSeparator)+path, string(os.PathListSeparator)))
	for i := range o.MCP {
		o.MCP[i].URL = strings.Replace(o.MCP[i].URL, fixtures.ServerAddress, p.servers.address, 1)
	}
}

// Write implements steps.Environment: a server that the client has started may wait for the file.
func (p *processEnvironment) Write(_ context.Context, path, text string) error {
	if p.servers.dir == "" {
		return nil
	}
	return WriteFiles(p.workDir(), map[string][]byte{path: []byte(text)})
}

func (p *processEnvironment) workDir() string { return filepath.Join(p.post.Dir, "work") }

func (p *processEnvironment) playedID(id string) string { return p.play.Played(id) }

func (p *processEnvironment) prepareOpen(o conformance.Open) conformance.Open {
	o.Launch, o.Dir = &p.programs, p.workDir()
	o.Command, o.Env = []string{p.post.Program}, p.post.Env(os.Environ())
	if f := p.d.run.Fault; f != nil && f.StartError != nil {
		env, err := p.post.Hide(os.Environ())
		if err != nil && !errors.Is(err, os.ErrNotExist) { // an earlier open hid it
			p.d.run.Harness = "stand-in: " + err.Error()
		}
		o.Env = env
	}
	p.addServers(&o)
	return o
}

func (p *processEnvironment) providerID() string { return p.play.ProviderSessionID() }

func (p *processEnvironment) stepLimit() time.Duration { return processStepLimit }

func (p *processEnvironment) unreadBytes() int { return -1 }

func (p *processEnvironment) playTime() time.Duration { return time.Duration(p.waited.Load()) }

func (p *processEnvironment) abort() { p.programs.kill() }

// programs starts processes, and can kill all of them.
type programs struct {
	mu     sync.Mutex
	all    []proc.Process
	killed bool
}

// Launch implements proc.Launcher.
func (p *programs) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return nil, errAborted
	}
	started, err := proc.Exec{EndWithProgram: true}.Launch(ctx, c)
	if err == nil {
		p.all = append(p.all, started)
	}
	return started, err
}

// kill kills the processes with their groups, and closes their output, which a descendant that
// left the group may hold.
func (p *programs) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	for _, started := range p.all {
		_ = started.Signal(proc.SIGKILL) // it may have ended
		for _, r := range []any{started.Stdout(), started.Stderr()} {
			if c, is := r.(io.Closer); is {
				_ = c.Close() // its reader closes it too
			}
		}
	}
}

func (p *processEnvironment) beforeStep(s fixtures.Step) {
	if s.Verb == fixtures.VerbStop { // stop what the subject has emitted, not what it has yet to read
		p.moved()
		for p.unmovedFor() < idleTimeBeforeStop && !p.d.isAborted() {
			p.waitMove(p.d.nextEvent(), nil, idleTimeBeforeStop-p.unmovedFor())
		}
	}
	client := p.d.run.Scenario.Client
	for i := p.begun; i < len(client); i++ {
		if client[i].Line == s.Line && client[i].Verb == s.Verb {
			p.begun = i + 1
			break
		}
	}
	p.from = nil
	if b := p.play.State().Barrier; b != nil {
		p.from = b.Line
	}
	p.moved()
}

func (p *processEnvironment) afterStep(s fixtures.Step) {
	if !s.Refused {
		return
	}
	p.waitBarrier()
	if skipRefused(p.play, s) {
		p.waitBarrier()
	}
}

// waitExit waits until no stand-in runs any more, and returns how many stay.
func (p *processEnvironment) waitExit() int {
	if p.d.isAborted() {
		return 0 // what runs is ended with the post
	}
	deadline := time.Now().Add(exitLimit)
	for p.post.Running() > 0 && time.Now().Before(deadline) {
		time.Sleep(pollTime)
	}
	return p.post.Running()
}
