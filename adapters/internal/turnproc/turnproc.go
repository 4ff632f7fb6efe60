// Package turnproc makes one process of several, for runtimes that run a process for each turn.
package turnproc

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Processes is the processes of a session as one: a session outlives its turns, and
// each turn is a process. It implements proc.Process and proc.Launcher.
//
// A line of stdin starts a process (Start). Stdout and stderr are those of all processes
// in turn. When a process has ended and its output was read, a line of stdout reports
// that (Ended); it begins with a random mark, so that no process can write one.
type Processes struct {
	launcher proc.Launcher
	limits   adapters.Limits
	mark     []byte
	version  string

	outR, errR *io.PipeReader
	outW, errW *io.PipeWriter
	exited     chan struct{}

	mu      sync.Mutex
	current proc.Process // nil if none runs
	closing bool         // stdin is closed
	over    bool         // exited is closed
	exit    proc.Exit
}

// Start is the command and the stdin of a process.
type Start struct {
	Argv  []string `json:"argv"`
	Dir   string   `json:"dir"`
	Env   []string `json:"env"`
	Stdin string   `json:"stdin"`
}

// Ended reports the end of a process. Failure is why it did not start.
type Ended struct {
	proc.Exit
	Failure string
}

// Line is the line of stdin that starts the process.
func (s Start) Line() []byte { return lenient.Encode(s) }

// Version is the last word of what the program prints for its version.
func (p *Processes) Version() string { return p.version }

// New returns the processes of a session, of which none runs.
func New(l proc.Launcher, limits adapters.Limits) *Processes {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	p := &Processes{launcher: l, limits: limits, mark: append([]byte{0}, hex.EncodeToString(b[:])...), exited: make(chan struct{})}
	p.outR, p.outW = io.Pipe()
	p.errR, p.errW = io.Pipe()
	return p
}

// Launch implements proc.Launcher. It starts no turn: it asks the program for its version, so that
// a program that cannot run is an error of the open.
func (p *Processes) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	v, err := p.launcher.Launch(ctx, c)
	if err != nil {
		return nil, err
	}
	_ = v.Stdin().Close()
	defer context.AfterFunc(ctx, func() { _ = v.Signal(proc.SIGKILL) })()
	errs := proc.NewTail(4 << 10)
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(errs, v.Stderr()) })
	out, _ := io.ReadAll(io.LimitReader(v.Stdout(), 4<<10))
	_, _ = io.Copy(io.Discard, v.Stdout())
	exit := v.Wait()
	reading.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case exit != proc.Exit{}:
		return nil, fmt.Errorf("%s: %v: %s", strings.Join(c.Argv, " "), exit, errs)
	}
	fields := bytes.Fields(out)
	if len(fields) > 0 {
		p.version = string(fields[len(fields)-1]) // codex-cli 0.169.0
	}
	return p, nil
}

// Stdin implements proc.Process.
func (p *Processes) Stdin() io.WriteCloser { return starter{p} }

// Stdout implements proc.Process.
func (p *Processes) Stdout() io.Reader { return p.outR }

// Stderr implements proc.Process.
func (p *Processes) Stderr() io.Reader { return p.errR }

// Signal implements proc.Process: it signals the running process, if any.
func (p *Processes) Signal(s proc.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil {
		return nil
	}
	return p.current.Signal(s)
}

// Wait implements proc.Process. It returns when no process runs and none can start.
func (p *Processes) Wait() proc.Exit { <-p.exited; return p.exit }

// finish ends the whole with an exit, unless it has ended. The caller holds mu.
func (p *Processes) finish(e proc.Exit) {
	if p.over {
		return
	}
	p.over, p.exit, p.closing = true, e, true
	_ = p.outW.Close()
	_ = p.errW.Close()
	close(p.exited)
}

// Finish ends the whole: the last process has failed.
func (p *Processes) Finish(e proc.Exit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish(e)
}

// starter is the stdin of processes.
type starter struct{ p *Processes }

// Write starts the process that a line describes. It returns when that has its input.
func (s starter) Write(line []byte) (int, error) {
	p := s.p
	var st Start
	if err := json.Unmarshal(line, &st, lenient.Options); err != nil {
		return 0, err
	}
	child, err := p.launch(st)
	if err != nil {
		go p.report(Ended{Exit: proc.Exit{Code: -1}, Failure: err.Error()})
		return len(line), nil //nolint:nilerr // a line of stdout reports it
	}
	_, _ = io.WriteString(child.Stdin(), st.Stdin) // a process that does not read it has ended
	_ = child.Stdin().Close()
	return len(line), nil
}

var errClosing = errors.New("the session is being closed")

func (p *Processes) launch(st Start) (proc.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return nil, errClosing
	}
	child, err := p.launcher.Launch(context.Background(), proc.Command{Argv: st.Argv, Dir: st.Dir, Env: st.Env})
	if err != nil {
		return nil, err
	}
	p.current = child
	go p.relay(child)
	return child, nil
}

// relay passes on the output of a process, and then its end. A descendant may keep the
// pipes open: they are closed if nothing comes for the grace after the exit.
func (p *Processes) relay(child proc.Process) {
	out, errs := &output{w: p.outW}, &output{w: p.errW}
	drained := make(chan struct{})
	var copies sync.WaitGroup
	exited := make(chan struct{})
	copies.Go(func() {
		_, _ = io.Copy(out, child.Stdout())
		p.endMute(child, exited)
	})
	copies.Go(func() { _, _ = io.Copy(errs, child.Stderr()) })
	go func() { copies.Wait(); close(drained) }()
	exit := child.Wait()
	close(exited)
	p.awaitOutput(child, drained, out, errs)
	if out.last != '\n' && out.last != 0 {
		_, _ = p.outW.Write([]byte{'\n'})
	}
	p.mu.Lock()
	p.current = nil
	closing := p.closing
	if closing {
		p.finish(exit)
	}
	p.mu.Unlock()
	if !closing {
		p.report(Ended{Exit: exit})
	}
}

// endMute ends a process that has closed its stdout and does not exit: it can report nothing
// more.
func (p *Processes) endMute(child proc.Process, exited <-chan struct{}) {
	t := time.NewTimer(p.limits.CloseStdin)
	defer t.Stop()
	select {
	case <-exited:
	case <-t.C:
		proc.End(child, proc.Grace{Term: p.limits.Term})
	}
}

// awaitOutput returns when the output was read to its end.
func (p *Processes) awaitOutput(child proc.Process, drained <-chan struct{}, outputs ...*output) {
	t := time.NewTicker(p.limits.Term)
	defer t.Stop()
	for {
		quiet := true
		for _, o := range outputs {
			quiet = !o.moved.Swap(false) && !o.writing.Load() && quiet
		}
		select {
		case <-drained:
			return
		case <-t.C:
		}
		for _, o := range outputs {
			quiet = !o.moved.Load() && !o.writing.Load() && quiet
		}
		if !quiet {
			continue
		}
		for _, r := range []io.Reader{child.Stdout(), child.Stderr()} {
			if c, ok := r.(io.Closer); ok {
				_ = c.Close()
			}
		}
		<-drained
		return
	}
}

func (p *Processes) report(e Ended) {
	_, _ = p.outW.Write(append(append(append([]byte{}, p.mark...), lenient.Encode(e)...), '\n')) // the session may have ended
}

// Ending returns the report of an end, if a line is one.
func (p *Processes) Ending(line []byte) (e Ended, ok bool) {
	rest, ok := bytes.CutPrefix(line, p.mark)
	return e, ok && json.Unmarshal(rest, &e, lenient.Options) == nil
}

// Close implements io.Closer: no further process starts.
func (s starter) Close() error {
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	if p.current == nil {
		p.finish(proc.Exit{})
	}
	return nil
}

// output is a writer that knows whether output moves.
type output struct {
	w       io.Writer
	last    byte        // that was written
	moved   atomic.Bool // something was written
	writing atomic.Bool // a write waits for the session
}

func (o *output) Write(b []byte) (int, error) {
	if len(b) > 0 {
		o.last = b[len(b)-1]
	}
	o.moved.Store(true)
	o.writing.Store(true)
	defer o.writing.Store(false)
	return o.w.Write(b)
}

var (
	_ proc.Launcher = (*Processes)(nil)
	_ proc.Process  = (*Processes)(nil)
)
