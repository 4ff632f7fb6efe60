package tap

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// Folder records the processes of launchers into files of a folder.
type Folder struct {
	Dir string
	// Failed receives the reason why a recording is missing or ends early. It may be called by
	// several goroutines.
	Failed func(error)

	open sync.WaitGroup
}

// unread is how long a recording waits for output that the client may still read after its
// process has ended.
const unread = time.Second

// Launcher returns a launcher that records each process that inner starts into a file of its
// own. The processes are used as those of inner are. Signals are not recorded.
func (f *Folder) Launcher(inner proc.Launcher) proc.Launcher {
	return proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
		p, err := inner.Launch(ctx, c)
		if err != nil {
			return nil, err
		}
		file, err := Create(f.Dir, c.Argv[0])
		if err != nil {
			f.Failed(err)
			return p, nil
		}
		r := Start(file, c.Argv, f.Failed)
		t := &tapped{Process: p,
			in:  &tappedInput{to: p.Stdin(), tee: r.Lines(fixtures.In), end: r.EOF},
			out: newTappedOutput(p.Stdout(), r.Lines(fixtures.Out)),
			err: newTappedOutput(p.Stderr(), r.Lines(fixtures.Err)),
		}
		f.open.Go(func() {
			exit := p.Wait()
			limit := time.NewTimer(unread)
			defer limit.Stop()
			for _, o := range []*tappedOutput{t.out, t.err} {
				select {
				case <-o.ended:
				case <-limit.C:
					limit.Reset(0)
				}
			}
			r.Exit(exit)
			r.Close()
		})
		return t, nil
	})
}

// Wait waits until all processes have ended and their recordings are written. It may be
// called on nil.
func (f *Folder) Wait() {
	if f != nil {
		f.open.Wait()
	}
}

// tapped is a process whose lines are recorded.
type tapped struct {
	proc.Process
	in       *tappedInput
	out, err *tappedOutput
}

func (t *tapped) Stdin() io.WriteCloser { return t.in }
func (t *tapped) Stdout() io.Reader     { return t.out }
func (t *tapped) Stderr() io.Reader     { return t.err }

type tappedInput struct {
	to  io.WriteCloser
	end func()

	mu  sync.Mutex // of tee: Close may be called during a Write
	tee *Lines
	// closed reports that Close was called.
	closed bool
}

// Write records first, so that no reply is recorded before its request.
func (i *tappedInput) Write(b []byte) (int, error) {
	i.mu.Lock()
	if !i.closed {
		_, _ = i.tee.Write(b)
	}
	i.mu.Unlock()
	return i.to.Write(b)
}

func (i *tappedInput) Close() error {
	i.mu.Lock()
	if !i.closed {
		i.closed = true
		_ = i.tee.Close()
		i.end()
	}
	i.mu.Unlock()
	return i.to.Close()
}

type tappedOutput struct {
	from  io.Reader
	tee   *Lines
	once  sync.Once
	ended chan struct{}
}

func newTappedOutput(from io.Reader, tee *Lines) *tappedOutput {
	return &tappedOutput{from: from, tee: tee, ended: make(chan struct{})}
}

func (o *tappedOutput) Read(b []byte) (int, error) {
	n, err := o.from.Read(b)
	_, _ = o.tee.Write(b[:n])
	if err != nil {
		o.once.Do(func() {
			_ = o.tee.Close()
			close(o.ended)
		})
	}
	return n, err
}
