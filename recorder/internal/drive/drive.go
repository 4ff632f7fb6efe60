// Package drive makes a real runtime perform a scenario and hands each line
// between the two to its caller.
//
// A [Driver] runs the steps of the scenario; the [Client] of the runtime, which
// lives in a package of its own, writes the lines. Neither shares wire types with
// the adapters, because the code under test must not write the wire. A client
// switches on each optional output: a stand-in can leave out what its client did
// not ask for but cannot add it.
//
// A step runs only at the point that the scenario names. Nothing here sleeps: a
// wait returns when the model has reached the named point and the wire shows all
// that the model has sent until then.
package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// Model is the part of the scripted model that a Driver uses.
type Model interface {
	URL() string
	// Holding returns what a reply has sent until it reached the hold. ok is
	// false if it has not reached it.
	Holding(hold string) (text, think string, ok bool)
	Release(hold string)
	// Changed returns a channel that is closed when the result of Holding may
	// have changed.
	Changed() <-chan struct{}
}

// Options configures a run.
type Options struct {
	Scenario *fixtures.Scenario
	Runtime  *Runtime
	Version  string
	Binary   string   // the native binary
	Env      []string // the whole environment except for what the client adds
	Work     string   // the working directory; Run writes the scenario's files there
	Model    Model
	Launcher proc.Launcher             // nil: real processes
	Tee      func(l fixtures.WireLine) // called in order, from one goroutine
	Deadline time.Duration             // of the whole run; 0: that of the runtime
}

// DefaultDeadline bounds a run on a runtime that has no limit of its own.
const DefaultDeadline = 60 * time.Second

// exitLimit bounds the end of a process after its stdin was closed.
const exitLimit = 15 * time.Second

// Driver performs one scenario. It must be used from one goroutine.
type Driver struct {
	Options

	ctx       context.Context
	client    Client
	start     time.Time
	process   proc.Process
	processes int // how many were started
	events    chan event
	alive     bool
	closed    bool // a step closed stdin or killed the process
	last      []string
	hidden    []byte // see Hide
	actions   int    // of the client, that were recorded
	unseen    bool   // the last step of the session since the last wait left no line
	err       error  // the first of Fail

	called  map[string]bool // tools and hooks of the client that the runtime has called
	written map[string]bool // files that a step wrote

	progress map[string]bool // tool calls of whose progress the wire shows something
	pending  []*pendingCall
}

// Run performs the scenario and returns after the runtime has exited.
func Run(ctx context.Context, o Options) error {
	return withDriver(ctx, o, func(d *Driver) error {
		if err := d.runSteps(); err != nil || !d.alive {
			return err
		}
		if err := d.waitQuiet(); err != nil {
			return err
		}
		return d.closeStdin()
	})
}

// withDriver calls do with a Driver and kills the process that do left running.
func withDriver(ctx context.Context, o Options, do func(*Driver) error) error {
	if o.Deadline == 0 {
		o.Deadline = cmp.Or(o.Runtime.Deadline, DefaultDeadline)
	}
	if o.Launcher == nil {
		o.Launcher = proc.Exec{}
	}
	o.Launcher = o.Runtime.LauncherOfLines(o.Launcher)
	if why := o.Scenario.Excluded(o.Runtime.Wire.Name, o.Version); why != "" {
		return fmt.Errorf("%s is not for %s %s: %s", o.Scenario.ID, o.Runtime.Wire.Name, o.Version, why)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Deadline, fmt.Errorf("the run took longer than %v", o.Deadline))
	defer cancel()
	d := &Driver{
		Options: o, ctx: ctx, start: time.Now(), events: make(chan event, 64),
		called: map[string]bool{}, written: map[string]bool{}, progress: map[string]bool{},
	}
	var err error
	for _, x := range d.Scenario.Options() {
		if !slices.Contains(o.Runtime.Options, x.Key) {
			return Unsupported(o.Runtime.Wire.Name).Error("opens a session with " + x.Key)
		}
	}
	if d.client, err = o.Runtime.New(d); err != nil {
		return fmt.Errorf("%s: %w", o.Scenario.File, err)
	}
	if err := writeFiles(o.Work, o.Scenario.Workspace); err != nil {
		return err
	}
	defer d.killProcess()
	return do(d)
}

func writeFiles(dir string, files map[string][]byte) error {
	for name, data := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// writeWorkFile writes a file. If a tool has made a pipe of that name, it waits
// for a reader of the pipe.
func (d *Driver) writeWorkFile(path string, data []byte) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return writeFile(path, data)
	}
	var pipe *os.File
	if err := d.Until("a reader of "+path, func() bool {
		pipe, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil
	}); err != nil {
		return err
	}
	_, err = pipe.Write(data)
	return errors.Join(err, pipe.Close())
}

// Path returns the path of a file of the workspace.
func (d *Driver) Path(name string) string { return filepath.Join(d.Work, filepath.FromSlash(name)) }
