package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/relay"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/steps"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Runtime is a real runtime that can be started, and the scripted model that it
// talks to.
type Runtime struct {
	Name    string
	Version string
	Command []string // the native program
	// Launcher starts it; nil is proc.Exec.
	Launcher proc.Launcher
	Args     []string // the arguments that point it at the model
	Env      []string // its whole environment
	ModelEnv []string // the part of Env that points it at the model; a program gets it too
	Dir      string   // the working directory, with the scenario's files
	Model    Model
	Slug     string // the model to ask for; "" is the default
	// Recording is the recording of the scenario on this version, else on the newest that has
	// one; nil: there is none.
	Recording *fixtures.Case
	// Unprompted is how many turns the runtime began by itself when the scenario was
	// recorded. A live run waits for as many before it ends.
	Unprompted int
	// ServerAddress is where the scenario's MCP servers listen that run already.
	ServerAddress string
}

// Model is a scripted model, such as a *model.Server of package fakes/model.
type Model interface {
	// Holding returns the text and the reasoning so far of the reply that waits at a hold.
	Holding(hold string) (text, reasoning string, holding bool)
	Release(hold string)
	// Changed is closed at the next change of what the other methods return.
	Changed() <-chan struct{}
	// Witness returns the requests and replies so far.
	Witness() []fixtures.Request
	// Err returns why the model refused a request, or nil.
	Err() error
	// Close returns when no request is being answered any more.
	Close() error
}

// liveLimit bounds, in real time, how long a wait or a step of a live run may
// take. It is generous, because a machine may be slow.
const liveLimit = 150 * time.Second

// liveLimits are those of the subject. OpenCode starts in 5 s on a machine that does nothing
// else, and in more than the 30 s of the default on a busy one.
var liveLimits = adapters.Limits{Handshake: 2 * time.Minute, Request: time.Minute, Stop: time.Minute}

// Live lets a subject drive the real runtime through a scenario.
func Live(ctx context.Context, s conformance.Subject, scn *fixtures.Scenario, rt Runtime) *conformance.Run {
	r := &conformance.Run{Tier: conformance.TierLive, Subject: s.Name(), Runtime: rt.Name, Version: rt.Version, Scenario: scn, Recording: rt.Recording}
	env := &liveEnvironment{
		runtime: rt, launcher: idLauncher{Launcher: launcherOf(rt), runtime: rt.Name},
		endsOnly: runindex.RecordedShows(r, func(l *wire.Line) bool { return l.StepBegins }),
	}
	d := &director{run: r, subject: s, env: env, start: time.Now(), limits: &liveLimits}
	env.d = d
	d.init()
	if _, external := s.(conformance.External); external {
		closeRelay, err := env.relayRuntime()
		if err != nil {
			r.Harness = "relay to the runtime: " + err.Error()
			return r
		}
		defer closeRelay()
		stop := context.AfterFunc(ctx, func() { d.abort(context.Cause(ctx)) })
		defer stop()
	}
	d.runScenario(ctx)
	_ = rt.Model.Close() // no handler runs any more, so the witness is complete
	r.Witness = rt.Model.Witness()
	if ids := env.launcher.sessionIDs(); len(ids) == len(r.Opens) {
		for i, id := range ids {
			r.Opens[i].Provider = id
		}
	}
	if err := rt.Model.Err(); err != nil {
		r.Hang = "the scripted model refused a request: " + err.Error()
	}
	r.Workspace = readTree(rt.Dir)
	return r
}

// launcherOf starts the runtime, and the MCP servers of a client that starts them itself.
func launcherOf(rt Runtime) proc.Launcher {
	if rt.Launcher == nil {
		return proc.Exec{EndWithProgram: true}
	}
	return proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
		if len(c.Argv) > 0 && strings.HasPrefix(filepath.Base(c.Argv[0]), fixtures.ServerCommand("")) {
			return proc.Exec{EndWithProgram: true}.Launch(ctx, c)
		}
		return rt.Launcher.Launch(ctx, c)
	})
}

// UnpromptedTurns counts the turns that the runtime began by itself.
func UnpromptedTurns(witness []fixtures.Request) int {
	n := 0
	for _, q := range witness {
		if slices.Contains(q.New, "task") {
			n++
		}
	}
	return n
}

// readTree returns the regular files of a folder that can be read.
func readTree(dir string) map[string][]byte {
	out := map[string][]byte{}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // the rest of the folder is still read
		}
		if b, err := os.ReadFile(path); err == nil { //nolint:gosec // the path is in a folder that this package made
			if rel, err := filepath.Rel(dir, path); err == nil {
				out[filepath.ToSlash(rel)] = b
			}
		}
		return nil
	})
	return out
}

// liveEnvironment waits until the subject's events and the model show the point
// that a step names.
type liveEnvironment struct {
	runtime  Runtime
	d        *director
	launcher idLauncher
	endsOnly bool // no line shows a tool call before it has ended

	// Of a subject that is a program:
	programs *programs // nil: the subject is none
	program  []string  // its environment
}

// relayRuntime lets a program find the runtime as it finds a stand-in. What it starts relays to
// the real runtime, which this process starts: with its own environment, and with the variables
// that the program has set for it.
func (l *liveEnvironment) relayRuntime() (closeRelay func(), err error) {
	l.programs, l.program = &programs{}, append(os.Environ(), l.runtime.ModelEnv...)
	if l.runtime.Launcher != nil { // it is no program, but reached by its address
		return func() {}, nil
	}
	known := make(chan struct{}) // closed when l.program is complete
	post, err := relay.NewPost(standin.ProgramName(l.runtime.Name), proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
		<-known
		return l.launchFor(ctx, c)
	}), nil)
	if err != nil {
		return nil, err
	}
	l.program = post.Env(l.program)
	close(known)
	return func() { _ = post.Close() }, nil // a folder that stays changes no verdict
}

// launchFor starts the runtime as a program has started the relay.
func (l *liveEnvironment) launchFor(ctx context.Context, c proc.Command) (proc.Process, error) {
	env := slices.Clone(l.runtime.Env)
	for _, v := range c.Env {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains(l.program, v) && !slices.Contains(shellVariables, name) {
			env = append(env, v)
		}
	}
	return l.launcher.Launch(ctx, proc.Command{Argv: slices.Concat(l.runtime.Command, l.runtime.Args, c.Argv[1:]), Dir: c.Dir, Env: env})
}

// shellVariables are those that a shell sets, and those of which the runtime has its own.
var shellVariables = []string{"PWD", "OLDPWD", "SHLVL", "_", "PATH", "HOME"}

func (*liveEnvironment) playedID(id string) string { return id }

func (l *liveEnvironment) prepareOpen(o conformance.Open) conformance.Open {
	o.Dir = l.runtime.Dir
	if l.programs != nil {
		o.Launch, o.Env = l.programs, l.program
	} else {
		o.Launch, o.Command, o.Args, o.Env = &l.launcher, l.runtime.Command, l.runtime.Args, l.runtime.Env
		o.Model = cmp.Or(o.Model, l.runtime.Slug) // a program's protocol need not name it: Args or ModelEnv do
	}
	for i := range o.MCP {
		o.MCP[i].URL = strings.Replace(o.MCP[i].URL, fixtures.ServerAddress, l.runtime.ServerAddress, 1)
	}
	return o
}

func (l *liveEnvironment) providerID() string       { return "" } // see idLauncher
func (l *liveEnvironment) beforeStep(fixtures.Step) {}
func (l *liveEnvironment) afterStep(fixtures.Step)  {}
func (l *liveEnvironment) stepLimit() time.Duration { return liveLimit }
func (l *liveEnvironment) unreadBytes() int         { return -1 }
func (l *liveEnvironment) playTime() time.Duration  { return 0 }

func (l *liveEnvironment) abort() {
	if l.programs != nil {
		l.programs.kill()
	}
}

// liveIdleTime is how long runUntil waits. A step of a cancelled run gets this
// time to end; the director has separate limits for its waits after that.
const liveIdleTime = time.Second

func (l *liveEnvironment) runUntil(done <-chan struct{}) bool {
	t := time.NewTimer(liveIdleTime)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
	}
	return false
}

func (l *liveEnvironment) Release(_ context.Context, hold string) error {
	l.runtime.Model.Release(hold)
	return nil
}

func (l *liveEnvironment) Kill(_ context.Context, signal string) error {
	return l.launcher.signalLast(proc.Signal(signal))
}

func (l *liveEnvironment) Write(_ context.Context, path, text string) error {
	return WriteFiles(l.runtime.Dir, map[string][]byte{path: []byte(text)})
}

// Aside fails: the subject has no other client of its process.
func (l *liveEnvironment) Aside(context.Context, string, string) error {
	return errors.New("no other client of the process is there")
}

func (l *liveEnvironment) Wait(ctx context.Context, s fixtures.Step) error {
	deadline := time.NewTimer(liveLimit)
	defer deadline.Stop()
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		model := l.runtime.Model.Changed()
		l.d.mu.Lock()
		event := l.d.changed
		ok := l.reached(s)
		l.d.mu.Unlock()
		if ok {
			return nil
		}
		if err := l.runtime.Model.Err(); err != nil {
			return err
		}
		select {
		case <-model:
		case <-event:
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("%s: not reached within %v; %s", steps.String(s), liveLimit, l.progress())
		}
	}
}

// progress describes how far a run got before it stopped.
func (l *liveEnvironment) progress() string {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d events so far, the last:", len(l.d.run.Events))
	for _, e := range l.d.run.Events[max(0, len(l.d.run.Events)-5):] {
		fmt.Fprintf(&b, " %s", e.Type())
		if e.Turn > 0 {
			fmt.Fprintf(&b, " (turn %d)", e.Turn)
		}
	}
	witness := l.runtime.Model.Witness()
	fmt.Fprintf(&b, "; the model was asked %d times", len(witness))
	if n := len(witness); n > 0 {
		fmt.Fprintf(&b, ", the last request brought %v and is %s", witness[n-1].New, cmp.Or(string(witness[n-1].Ended), "open"))
	}
	return b.String()
}

// reached is called with the director's lock held.
func (l *liveEnvironment) reached(s fixtures.Step) bool {
	events := l.d.run.Events
	switch s.What {
	case "hold":
		sentText, sentReasoning, ok := l.runtime.Model.Holding(s.ID)
		text, reasoning := textAndReasoning(events)
		return ok && (l.d.run.Scenario.InSummary(s.ID) || strings.HasSuffix(text, sentText) && strings.HasSuffix(reasoning, sentReasoning))
	case "retry":
		return slices.ContainsFunc(events, func(e conformance.Event) bool {
			n, ok := e.Data.(event.Notice)
			return ok && n.Code == event.NoticeRetry
		})
	case "ask":
		_, ok := l.d.question(s)
		return ok
	case "tool", "output", "progress", "result", "task":
		if s.What == "tool" && l.endsOnly {
			return true // the wait for a file that follows is for its start, too
		}
		return toolReached(l.d.run, s)
	case "call":
		return l.d.calls.called[s.ID]
	case "file":
		_, err := os.Stat(filepath.Join(l.runtime.Dir, filepath.FromSlash(s.ID)))
		return err == nil
	case "end":
		return messageEnded(events, s.ID)
	case "exit":
		return true // the director waits for session_end
	case "idle":
		return l.idle(events, s.Line == 0)
	}
	return false
}

// toolReached reports whether the events show the point of a tool call that a
// wait names.
func toolReached(r *conformance.Run, s fixtures.Step) bool {
	return slices.ContainsFunc(r.Events, func(e conformance.Event) bool {
		if d, is := e.Data.(event.Task); is {
			return s.What == "task" && scenarioCall(r, d.ToolUseID) == s.ID && d.Status != event.TaskRunning
		}
		id, ok := event.ToolID(e.Data)
		return ok && e.Type() == toolEventOf(s.What) && scenarioCall(r, id) == s.ID
	})
}

// toolEventOf returns the type of the event of a tool that a wait names: "wait output" is for its
// tool_output, "wait tool" for its tool_start.
func toolEventOf(what string) event.Type {
	if what == "tool" {
		return event.TypeToolStart
	}
	return event.Type("tool_" + what)
}

// idle reports whether no turn runs, no message is queued, no task runs and the
// model answers no request. At the end of the scenario the runtime must also have
// begun as many turns by itself as it did when it was recorded: such a turn comes
// a moment after its cause.
func (l *liveEnvironment) idle(events []conformance.Event, last bool) bool {
	if !allEnded(events) {
		return false
	}
	for _, x := range l.d.run.Steps {
		if x.Step.Verb == fixtures.VerbSend && x.Err == nil && !isWithdrawn(l.d.run.Scenario, x.Step.ID) && !messageEnded(events, x.Step.ID) {
			return false
		}
	}
	witness := l.runtime.Model.Witness()
	for _, q := range witness {
		if q.Ended == "" {
			return false
		}
	}
	return !last || UnpromptedTurns(witness) >= l.runtime.Unprompted
}
