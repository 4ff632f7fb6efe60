// Package fakeproc offers a process in memory, for tests of adapters.
package fakeproc

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/adapters/proc"
)

// Process is a process in memory and its own launcher.
type Process struct {
	Argv []string      // the command line of the last Launch
	In   *bufio.Reader // stdin
	// Survives reports whether a signal is ignored; nil ignores none.
	Survives func(proc.Signal) bool

	inR, outR, errR *io.PipeReader
	inW, outW, errW *io.PipeWriter
	once            sync.Once
	exited          chan struct{}
	exit            proc.Exit
}

// New returns a running process.
func New() *Process {
	p := &Process{exited: make(chan struct{})}
	p.inR, p.inW = io.Pipe()
	p.outR, p.outW = io.Pipe()
	p.errR, p.errW = io.Pipe()
	p.In = bufio.NewReader(p.inR)
	return p
}

// Launch implements proc.Launcher.
func (p *Process) Launch(_ context.Context, c proc.Command) (proc.Process, error) {
	p.Argv = c.Argv
	return p, nil
}

// Stdin implements proc.Process.
func (p *Process) Stdin() io.WriteCloser { return p.inW }

// Stdout implements proc.Process.
func (p *Process) Stdout() io.Reader { return p.outR }

// Stderr implements proc.Process.
func (p *Process) Stderr() io.Reader { return p.errR }

// Wait implements proc.Process.
func (p *Process) Wait() proc.Exit { <-p.exited; return p.exit }

// Signal implements proc.Process.
func (p *Process) Signal(s proc.Signal) error {
	select {
	case <-p.exited:
	default:
		if p.Survives == nil || !p.Survives(s) {
			p.Exit(proc.Exit{Code: -1, Signal: s})
		}
	}
	return nil
}

// Exit ends the process. Later calls do nothing.
func (p *Process) Exit(e proc.Exit) {
	p.once.Do(func() {
		p.exit = e
		_ = p.outW.Close()
		_ = p.errW.Close()
		_ = p.inR.Close()
		close(p.exited)
	})
}

// CloseStdout closes stdout while the process runs.
func (p *Process) CloseStdout() { _ = p.outW.Close() }

// Print writes lines to stdout, in one write.
func (p *Process) Print(lines ...string) {
	_, _ = io.WriteString(p.outW, strings.Join(lines, "\n")+"\n")
}

// PrintErr writes a line to stderr.
func (p *Process) PrintErr(line string) { _, _ = io.WriteString(p.errW, line+"\n") }
