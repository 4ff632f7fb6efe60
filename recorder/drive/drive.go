// Package drive answers one question: how is a real runtime made to perform a
// scenario?
//
// It holds a small client of its own for each runtime. It shares no wire type
// and no wire code with the adapters: the code under test must not author the
// wire. Every optional output of a runtime is switched on, since a play can
// leave out what a client did not ask for but cannot add it.
//
// Acts happen only at points that the scenario names. Nothing here sleeps: a
// wait ends when the model stands where it should and the wire shows all that
// the model said until then.
package drive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// Model is what the driver needs of the scripted model.
type Model interface {
	URL() string
	// Holding says what a reply has said until it came to the hold.
	Holding(hold string) (text, think string, ok bool)
	Release(hold string)
	// Changed yields when the answer of Holding may be another one.
	Changed() <-chan struct{}
}

// Options says what to perform, with what, and where the wire goes.
type Options struct {
	Scenario *fixtures.Scenario
	Runtime  string // codex, claude
	Version  string
	Binary   string   // the native binary
	Env      []string // the whole environment but for what the runtime's client sets
	Work     string   // the working directory, filled with the scenario's files
	Model    Model
	Launcher proc.Launcher             // nil: real processes
	Tee      func(l fixtures.WireLine) // called in order, by one goroutine
	Deadline time.Duration             // of the whole run; 0: DefaultDeadline
}

// DefaultDeadline bounds a run.
const DefaultDeadline = 60 * time.Second

// closeLimit bounds the end of a process after its stdin was closed.
const closeLimit = 15 * time.Second

// client is what one runtime's client can do. Its methods run on the driver's
// goroutine.
type client interface {
	open(a fixtures.Step) error
	send(id, text string, files []string) error
	steer(id, text string) error
	answer(a fixtures.Step) error
	stop() error
	// set changes the model or the mode; the runtime must refuse it, or take it.
	set(what, value string, refused bool) error
	life
	line(b []byte)           // a line of the runtime's stdout
	asking(tool string) bool // "": of any
	sawTool(id string) bool
	// sawInput reports whether the wire shows half of the input of a call that
	// the model has begun to make; true where it never does.
	sawInput(id string) bool
	sawOutput(id string) bool // while the tool runs
	sawResult(id string) bool
	// settled is false while the wire must still show the rest of what the
	// model said; holding says that the model stands at a hold, and so that
	// there is no rest.
	settled(holding bool) bool
	// speaks is false while the wire must still show that the main agent's
	// message has begun.
	speaks() bool
	ended(message string) bool
	taskEnded(tool string) bool
	idle() bool
	retrying() bool // the wire has said that the model is asked once more
	// request sends what lifecycle asks for and waits for the answer, good
	// or bad; fence does the same with a request that changes nothing.
	request(a ask) error
	fence() error
	lifecycle() []ask
	// said is all the text, and all the reasoning, that each agent's wire
	// has shown so far.
	said() []*said
}

// said is the text of one agent as the wire has shown it.
type said struct{ text, think strings.Builder }

// driver performs one scenario. All its fields belong to one goroutine.
type driver struct {
	o      Options
	ctx    context.Context
	c      client
	start  time.Time
	proc   proc.Process
	n      int // which process
	events chan event
	alive  bool
	// perTurn says that each message starts a process of its own, which ends
	// with its turn.
	perTurn bool
	closed  bool // stdin was closed, or the process was killed, by an act
	last    []string
	err     error // of a client's handling of a line

	called  map[string]bool // tools and hooks of the client that the runtime has called
	written map[string]bool // files that an act wrote
	held    []*heldCall     // calls that wait for a file
}

// Run performs the scenario and returns when the runtime has ended.
func Run(ctx context.Context, o Options) error {
	return with(ctx, o, func(d *driver) error {
		if err := d.perform(); err != nil || !d.alive {
			return err
		}
		if err := d.quiet(); err != nil {
			return err
		}
		return d.close()
	})
}

// with prepares a driver and ends what it left running.
func with(ctx context.Context, o Options, do func(*driver) error) error {
	if o.Deadline == 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Launcher == nil {
		o.Launcher = proc.Exec{}
	}
	if why := o.Scenario.Excluded(o.Runtime, o.Version); why != "" {
		return fmt.Errorf("%s is not for %s %s: %s", o.Scenario.ID, o.Runtime, o.Version, why)
	}
	cfg, err := configFor(o.Runtime, o.Version, o.Scenario.Asking(), o.Scenario.Needs)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Scenario.File, err)
	}
	if o.Scenario.Policy != nil {
		cfg.judged()
	}
	if err := layOut(o.Work, o.Scenario.Workspace); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Deadline, fmt.Errorf("the run took longer than %v", o.Deadline))
	defer cancel()
	d := newDriver(ctx, o)
	switch o.Runtime {
	case "codex":
		d.c = newCodex(d, cfg)
	case "codexexec":
		d.c, d.perTurn = newCodexExec(d, cfg), true
	case "claude":
		d.c = newClaude(d, cfg)
	}
	defer d.kill()
	return do(d)
}

func newDriver(ctx context.Context, o Options) *driver {
	return &driver{o: o, ctx: ctx, start: time.Now(), events: make(chan event, 64), called: map[string]bool{}, written: map[string]bool{}}
}

// layOut writes the scenario's files into the working directory.
func layOut(dir string, files map[string][]byte) error {
	for name, data := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	return nil
}

// writeInto writes a file, or into a pipe that a tool made: then it waits for
// the pipe's reader.
func (d *driver) writeInto(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return writeFile(path, data)
	}
	var pipe *os.File
	if err := d.until("a reader of "+path, func() bool {
		pipe, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil
	}); err != nil {
		return err
	}
	_, err = pipe.Write(data)
	return errors.Join(err, pipe.Close())
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// perform does the acts and waits until nothing runs.
func (d *driver) perform() error {
	acts := d.o.Scenario.Client
	if len(acts) == 0 || acts[0].Verb != fixtures.VerbOpen {
		acts = append([]fixtures.Step{{Verb: fixtures.VerbOpen}}, acts...)
	}
	for _, a := range acts {
		if err := d.expect(a, d.act(a)); err != nil {
			if a.Line == 0 {
				return fmt.Errorf("%s: the first open, which is implied: %w", d.o.Scenario.File, err)
			}
			return fmt.Errorf("%s:%d: %s: %w", d.o.Scenario.File, a.Line, actString(a), err)
		}
	}
	if !d.alive {
		return nil
	}
	if err := d.until("nothing to run any more, after the last act", d.c.idle); err != nil {
		return fmt.Errorf("%s: %w", d.o.Scenario.File, err)
	}
	return nil
}

func (d *driver) act(a fixtures.Step) error {
	if !d.alive && !d.perTurn && a.Verb != fixtures.VerbOpen && a.Verb != fixtures.VerbWrite && (a.Verb != fixtures.VerbWait || a.What != "exit") {
		return errors.New("no process runs: it was closed or has ended")
	}
	switch a.Verb {
	case fixtures.VerbOpen:
		if d.alive {
			return errors.New("a process runs already")
		}
		return d.c.open(a)
	case fixtures.VerbSend:
		if a.What != "" {
			return d.taskAct(a)
		}
		return d.c.send(a.ID, a.Text, a.Files)
	case fixtures.VerbSteer:
		return d.c.steer(a.ID, a.Text)
	case fixtures.VerbAnswer:
		return d.c.answer(a)
	case fixtures.VerbStop:
		if a.What == fixtures.StopAll {
			return d.taskAct(a)
		}
		return d.c.stop()
	case fixtures.VerbRelease:
		d.o.Model.Release(a.ID)
		return nil
	case fixtures.VerbWrite:
		d.written[a.ID] = true
		if err := d.writeInto(d.workFile(a.ID), []byte(a.Text)); err != nil {
			return err
		}
		return d.answerCalls()
	case fixtures.VerbSet:
		return d.c.set(a.What, a.ValueFor(d.o.Runtime), a.Refused)
	case fixtures.VerbClose:
		if d.perTurn {
			return d.until("the end of the turn", d.c.idle)
		}
		return errors.Join(d.quiet(), d.close())
	case fixtures.VerbKill:
		return errors.Join(d.quiet(), d.signal(proc.Signal(a.What)))
	case fixtures.VerbWait:
		return d.wait(a)
	}
	switch a.Verb {
	case fixtures.VerbStopTask, fixtures.VerbWithdraw, fixtures.VerbAside:
		return d.taskAct(a)
	}
	return d.lifeAct(a)
}

func (d *driver) workFile(name string) string {
	return filepath.Join(d.o.Work, filepath.FromSlash(name))
}

func actString(a fixtures.Step) string {
	words := slices.DeleteFunc([]string{string(a.Verb), a.What, a.ID}, func(w string) bool { return w == "" })
	return strings.Join(words, " ")
}
