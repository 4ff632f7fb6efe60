package load

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/pipe"
)

// Launcher plays sessions in this process, over pipes. They block only in ways that
// testing/synctest recognizes. clock is their clock.
func (s *Script) Launcher(clock Clock) proc.Launcher {
	return proc.LauncherFunc(func(_ context.Context, c proc.Command) (proc.Process, error) {
		ctx, cancel := context.WithCancel(context.Background())
		p := &inside{in: pipe.New(), out: pipe.New(), cancel: cancel, ended: make(chan struct{})}
		p.work.Go(func() {
			defer cancel()
			p.exit, _ = s.Serve(ctx, clock, c.Argv, p.in, p.out) // if a play cannot begin, it has its own exit code
			p.out.CloseWrite()
			_ = p.in.Close()
			close(p.ended)
		})
		return p, nil
	})
}

// inside is a session as a process of this program.
type inside struct {
	in, out *pipe.Pipe
	cancel  context.CancelFunc
	work    sync.WaitGroup
	ended   chan struct{}
	exit    proc.Exit
}

// Stdin implements proc.Process.
func (p *inside) Stdin() io.WriteCloser { return insideIn{p.in} }

// Stdout implements proc.Process.
func (p *inside) Stdout() io.Reader { return p.out }

// Stderr implements proc.Process.
func (p *inside) Stderr() io.Reader { return bytes.NewReader(nil) }

// Signal implements proc.Process: any signal ends the session.
func (p *inside) Signal(proc.Signal) error {
	p.cancel()
	_ = p.out.Close() // a writer may be blocked
	return nil
}

// Wait implements proc.Process.
func (p *inside) Wait() proc.Exit {
	<-p.ended
	return p.exit
}

type insideIn struct{ p *pipe.Pipe }

func (i insideIn) Write(b []byte) (int, error) { return i.p.Write(b) }

func (i insideIn) Close() error {
	i.p.CloseWrite()
	return nil
}
