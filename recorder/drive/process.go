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

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// event is what a process did: a line, or its end.
type event struct {
	n    int
	dir  fixtures.Dir // Out, Err, Exit
	line []byte
	exit proc.Exit
	err  error // reading failed, or a line was too long
}

// env is a variable of the runtime's environment.
func (d *driver) env(name string) string {
	var out string
	for _, kv := range d.o.Env {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			out = v
		}
	}
	return out
}

// spawn starts the next process of the runtime.
func (d *driver) spawn(args, env []string) error {
	argv := append([]string{d.o.Binary}, args...)
	p, err := d.o.Launcher.Launch(d.ctx, proc.Command{Argv: argv, Dir: d.o.Work, Env: append(append([]string{}, d.o.Env...), env...)})
	if err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(d.o.Binary), err)
	}
	d.n++
	d.proc, d.alive, d.closed = p, true, false
	d.record(fixtures.WireLine{Dir: fixtures.Spawn, Argv: append([]string{program(d.o.Runtime)}, args...)})
	n, stop := d.n, d.ctx.Done()
	emit := func(e event) {
		e.n = n
		select {
		case d.events <- e:
		case <-stop: // nobody takes events any more; the pipes are still read to their end
		}
	}
	var read sync.WaitGroup
	for _, s := range []struct {
		dir   fixtures.Dir
		lines *proc.Lines
	}{{fixtures.Out, proc.NewLines(p.Stdout(), 0)}, {fixtures.Err, proc.NewLines(p.Stderr(), 0)}} {
		read.Go(func() {
			for {
				b, err := s.lines.Next()
				if err != nil && !errors.Is(err, proc.ErrLongLine) {
					return
				}
				emit(event{dir: s.dir, line: append([]byte{}, b...), err: err})
			}
		})
	}
	go func() {
		exit := p.Wait()
		_ = p.Signal(proc.SIGKILL) // what it left behind would hold the pipes open
		read.Wait()
		emit(event{dir: fixtures.Exit, exit: exit})
	}()
	return nil
}

// take handles one event.
func (d *driver) take(e event) {
	switch e.dir {
	case fixtures.Exit:
		d.alive = false
		d.record(fixtures.WireLine{Process: e.n, Dir: fixtures.Exit, Code: e.exit.Code, Signal: string(e.exit.Signal)})
	case fixtures.Err:
		d.record(fixtures.WireLine{Process: e.n, Dir: fixtures.Err, Bytes: e.line})
	case fixtures.Out:
		if e.err != nil {
			d.fail(fmt.Errorf("stdout: %w", e.err))
			return
		}
		d.record(fixtures.WireLine{Process: e.n, Dir: fixtures.Out, Bytes: e.line})
		d.c.line(e.line)
	}
}

func (d *driver) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// write sends one line to the runtime.
func (d *driver) write(line []byte) error {
	d.record(fixtures.WireLine{Dir: fixtures.In, Bytes: line})
	_, err := d.proc.Stdin().Write(append(slices.Clip(line), '\n'))
	return err
}

// record hands a line to the tee. Lines are recorded in the order in which the
// client saw and wrote them.
func (d *driver) record(l fixtures.WireLine) {
	if bytes.Contains(l.Bytes, aside) {
		return
	}
	l.T = time.Since(d.start)
	if l.Process == 0 {
		l.Process = d.n
	}
	d.last = append(d.last, fmt.Sprintf("%s %.300s%s%s", l.Dir, l.Bytes, strings.Join(l.Argv, " "), l.Signal))
	d.last = d.last[max(0, len(d.last)-12):]
	if d.o.Tee != nil {
		d.o.Tee(l)
	}
}

// close closes stdin and waits for the end of the process.
func (d *driver) close() error {
	if err := d.c.closing(); err != nil {
		return err
	}
	d.closed = true
	d.record(fixtures.WireLine{Dir: fixtures.EOF})
	if err := d.proc.Stdin().Close(); err != nil {
		return err
	}
	return d.untilExit("the end of the runtime after its stdin was closed")
}

// quietFor is how long a runtime says nothing before its stdin is closed or it
// gets a signal. The model stands still then; what the runtime says of its own
// accord, or says twice, would else be in one recording and not in the next.
const quietFor = 100 * time.Millisecond

// quiet waits until the runtime says nothing more.
func (d *driver) quiet() error {
	still := time.NewTimer(quietFor)
	defer still.Stop()
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	for d.alive {
		select {
		case e := <-d.events:
			d.take(e)
			still.Reset(quietFor)
		case <-still.C:
			return d.err
		case <-limit.C:
			return d.err // it talks on: what it has to say has no end
		case <-d.ctx.Done():
			return d.stuck("the runtime to be quiet", context.Cause(d.ctx))
		}
	}
	return d.err
}

// signal sends a signal to the runtime and waits for its end.
func (d *driver) signal(s proc.Signal) error {
	d.closed = true
	d.record(fixtures.WireLine{Dir: fixtures.Signal, Signal: string(s)})
	if err := d.proc.Signal(s); err != nil {
		return err
	}
	return d.untilExit("the end of the runtime after " + string(s))
}

func (d *driver) untilExit(what string) error {
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	for d.alive {
		select {
		case e := <-d.events:
			d.take(e)
		case <-limit.C:
			return d.stuck(what, fmt.Errorf("it has not ended in %v", closeLimit))
		case <-d.ctx.Done():
			return d.stuck(what, d.ctx.Err())
		}
	}
	return d.err
}

// kill ends what still runs when a run fails.
func (d *driver) kill() {
	if d.alive {
		_ = d.proc.Signal(proc.SIGKILL)
		d.proc.Wait()
	}
}
