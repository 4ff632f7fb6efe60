package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// event is a line of a process, or its exit.
type event struct {
	process int
	dir     fixtures.Dir // Out, Err, Exit
	line    []byte
	exit    proc.Exit
	err     error // reading failed, or a line was too long
}

// Spawn starts the next process of the runtime.
func (d *Driver) Spawn(args, env []string) error {
	argv := append([]string{d.Binary}, args...)
	p, err := d.Launcher.Launch(d.ctx, proc.Command{Argv: argv, Dir: d.Work, Env: slices.Concat(d.Env, env)})
	if err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(d.Binary), err)
	}
	d.processes++
	d.process, d.alive, d.closed = p, true, false
	d.record(fixtures.WireLine{Dir: fixtures.Spawn, Argv: append([]string{d.Runtime.Wire.ProgramName()}, args...)})
	n, stop := d.processes, d.ctx.Done()
	emit := func(e event) {
		e.process = n
		select {
		case d.events <- e:
		case <-stop: // the run has ended; the pipes are still read to their end
		}
	}
	var readers sync.WaitGroup
	for _, s := range []struct {
		dir   fixtures.Dir
		lines *linereader.Reader
	}{{fixtures.Out, linereader.NewReader(p.Stdout(), 0)}, {fixtures.Err, linereader.NewReader(p.Stderr(), 0)}} {
		readers.Go(func() {
			for {
				b, err := s.lines.Next()
				if err != nil && !errors.Is(err, linereader.ErrTooLong) {
					return
				}
				emit(event{dir: s.dir, line: bytes.Clone(b), err: err})
			}
		})
	}
	go func() {
		exit := p.Wait()
		_ = p.Signal(proc.SIGKILL) // its children would keep the pipes open
		readers.Wait()
		emit(event{dir: fixtures.Exit, exit: exit})
	}()
	return nil
}

// Alive reports whether a process runs.
func (d *Driver) Alive() bool { return d.alive }

// Closed reports whether stdin was closed or the process was killed.
func (d *Driver) Closed() bool { return d.closed }

func (d *Driver) handleEvent(e event) {
	switch e.dir {
	case fixtures.Exit:
		d.alive = false
		d.record(fixtures.WireLine{Process: e.process, Dir: fixtures.Exit, Code: e.exit.Code, Signal: string(e.exit.Signal)})
	case fixtures.Err:
		d.record(fixtures.WireLine{Process: e.process, Dir: fixtures.Err, Bytes: e.line})
	case fixtures.Out:
		if e.err != nil {
			d.Fail(fmt.Errorf("stdout: %w", e.err))
			return
		}
		d.record(fixtures.WireLine{Process: e.process, Dir: fixtures.Out, Bytes: e.line})
		if !jsontext.Value(e.line).IsValid(wire.AsWritten) {
			d.Fail(fmt.Errorf("a line of stdout is not JSON: %.300s", e.line))
			return
		}
		if p := d.Runtime.Wire.ReadOutput(e.line).Progress; p != nil {
			d.progress[d.Runtime.Wire.ScenarioCall(p.Tool)] = true
		}
		d.client.Read(e.line)
	}
}

// Fail makes the run fail with err, if it is the first error and not nil.
func (d *Driver) Fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// Write sends a value to the runtime as a line of JSON.
func (d *Driver) Write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return d.writeBytes(b)
}

func (d *Driver) writeBytes(line []byte) error {
	d.record(fixtures.WireLine{Dir: fixtures.In, Bytes: line})
	_, err := d.process.Stdin().Write(append(slices.Clip(line), '\n'))
	return err
}

// WriteAll writes text as all of stdin and closes it.
func (d *Driver) WriteAll(text string) error {
	d.record(fixtures.WireLine{Dir: fixtures.In, Bytes: []byte(text)})
	if _, err := d.process.Stdin().Write([]byte(text)); err != nil {
		return err
	}
	d.markClosed()
	return d.process.Stdin().Close()
}

// Hide excludes the lines that contain marker from the recording.
func (d *Driver) Hide(marker string) { d.hidden = []byte(marker) }

// record passes a line to the tee, in the order in which the client saw and wrote
// the lines.
func (d *Driver) record(l fixtures.WireLine) {
	if d.hidden != nil && bytes.Contains(l.Bytes, d.hidden) {
		return
	}
	l.T = time.Since(d.start)
	switch l.Dir {
	case fixtures.In, fixtures.EOF, fixtures.Signal, fixtures.Spawn:
		d.actions++
	}
	if l.Process == 0 {
		l.Process = d.processes
	}
	d.last = append(d.last, fmt.Sprintf("%s %.300s%s%s", l.Dir, l.Bytes, strings.Join(l.Argv, " "), l.Signal))
	d.last = d.last[max(0, len(d.last)-12):]
	if d.Tee != nil {
		d.Tee(l)
	}
}

func (d *Driver) markClosed() {
	d.closed = true
	d.record(fixtures.WireLine{Dir: fixtures.EOF})
}

// closeStdin closes stdin and waits for the process to exit.
func (d *Driver) closeStdin() error {
	if err := d.client.BeforeClose(); err != nil {
		return err
	}
	d.markClosed()
	if err := d.process.Stdin().Close(); err != nil {
		return err
	}
	return d.waitExit("the runtime to exit after its stdin was closed")
}

// quietFor is how long the runtime must write nothing before its stdin is closed
// or it gets a signal. The model is idle then. Without the pause, what the runtime
// sends unasked or repeats would be in one recording and not in the next.
const quietFor = 100 * time.Millisecond

// waitQuiet waits until the runtime writes nothing more.
func (d *Driver) waitQuiet() error {
	quiet := time.NewTimer(quietFor)
	defer quiet.Stop()
	limit := time.NewTimer(exitLimit)
	defer limit.Stop()
	for d.alive {
		select {
		case e := <-d.events:
			d.handleEvent(e)
			quiet.Reset(quietFor)
		case <-quiet.C:
			return d.err
		case <-limit.C:
			return d.err // it never stops writing
		case <-d.ctx.Done():
			return d.stuck("the runtime to be quiet", context.Cause(d.ctx))
		}
	}
	return d.err
}

// Signal sends a signal to the runtime and waits for it to exit.
func (d *Driver) Signal(s proc.Signal) error {
	return d.signal(s, false)
}

// signal is Signal. outside reports that the client does not send it.
func (d *Driver) signal(s proc.Signal, outside bool) error {
	d.closed = true
	d.record(fixtures.WireLine{Dir: fixtures.Signal, Signal: string(s), Outside: outside && d.Runtime.Wire.IsStop(string(s))})
	if err := d.process.Signal(s); err != nil {
		return err
	}
	return d.waitExit("the runtime to exit after " + string(s))
}

func (d *Driver) waitExit(what string) error {
	limit := time.NewTimer(exitLimit)
	defer limit.Stop()
	for d.alive {
		select {
		case e := <-d.events:
			d.handleEvent(e)
		case <-limit.C:
			return d.stuck(what, fmt.Errorf("it has not exited within %v", exitLimit))
		case <-d.ctx.Done():
			return d.stuck(what, d.ctx.Err())
		}
	}
	return d.err
}

// killProcess kills the process that runs after a failed run.
func (d *Driver) killProcess() {
	if d.alive {
		_ = d.process.Signal(proc.SIGKILL)
		d.process.Wait()
	}
}
