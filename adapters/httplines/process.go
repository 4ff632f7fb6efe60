package httplines

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/adapters/proc"
)

// Start starts a relay within this program, which its caller uses as a process: it reads
// request lines from stdin, and writes replies to stdout. It exits with code 0 at the end of
// stdin, and on each signal as a process that does not handle it.
func (r *Relay) Start() proc.Process {
	p := &process{done: make(chan struct{})}
	p.inR, p.in = io.Pipe()
	p.out, p.outW = io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		defer close(p.done)
		defer cancel()
		_ = r.Serve(ctx, p.inR, p.outW) // a signal closes stdin with an error
		_ = p.inR.Close()
		_ = p.outW.Close()
	}()
	return p
}

// process is a relay that runs.
type process struct {
	in     *io.PipeWriter
	inR    *io.PipeReader
	out    *io.PipeReader
	outW   *io.PipeWriter
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	signal proc.Signal
}

func (p *process) Stdin() io.WriteCloser { return p.in }
func (p *process) Stdout() io.Reader     { return p.out }
func (p *process) Stderr() io.Reader     { return strings.NewReader("") }

// Signal ends the relay. What it was writing is lost.
func (p *process) Signal(s proc.Signal) error {
	p.mu.Lock()
	select {
	case <-p.done: // it has exited
	default:
		if p.signal == "" {
			p.signal = s
		}
	}
	p.mu.Unlock()
	p.cancel()
	_ = p.inR.CloseWithError(io.ErrClosedPipe)
	_ = p.outW.Close()
	return nil
}

func (p *process) Wait() proc.Exit {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signal != "" {
		return proc.Exit{Code: -1, Signal: p.signal}
	}
	return proc.Exit{}
}
