package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// Exec launches real processes. On Unix each is in its own process group. Other
// systems have neither groups nor signals: there SIGTERM and SIGKILL end the process
// at once, and not those that it has started.
type Exec struct {
	// EndWithProgram demands that a process ends when this program does, in whatever way: on Linux
	// the kernel kills it, even if this program panics or is killed itself. Those that it has started
	// are not killed. Other systems ignore it.
	EndWithProgram bool
}

type child struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err *os.File
	ended    chan struct{}
	exit     Exit
}

// running are the processes that Exec has started and that have not exited.
var running struct {
	sync.Mutex
	all map[*child]bool
}

func setRunning(p *child, runs bool) {
	running.Lock()
	defer running.Unlock()
	if running.all == nil {
		running.all = map[*child]bool{}
	}
	if running.all[p] = runs; !runs {
		delete(running.all, p)
	}
}

// KillAll kills the processes that Exec has started and that still run, with their groups. It is
// for a program that is about to exit.
func KillAll() {
	running.Lock()
	defer running.Unlock()
	for p := range running.all {
		_ = p.Signal(SIGKILL) // it may have exited
	}
}

// Launch implements Launcher. Cancelling ctx later does not end the process; use End.
func (e Exec) Launch(ctx context.Context, c Command) (Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(c.Argv) == 0 {
		return nil, errors.New("launch: empty command")
	}
	if c.Dir != "" { // exec names the program if the folder is missing
		if info, err := os.Stat(c.Dir); err != nil {
			return nil, fmt.Errorf("the working directory: %w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("the working directory: %s is no folder", c.Dir)
		}
	}
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, Environ(c.Env)
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Wait closes the pipes of exec.Cmd, which would lose the last output of the
	// process. So use pipes of our own.
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		_ = outR.Close()
		_ = outW.Close()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = outW, errW
	start := cmd.Start
	if e.EndWithProgram {
		start = func() error { return StartBound(cmd) }
	}
	err = start()
	_ = outW.Close()
	_ = errW.Close()
	if err != nil {
		_ = outR.Close()
		_ = errR.Close()
		return nil, err
	}
	p := &child{cmd: cmd, in: in, out: outR, err: errR, ended: make(chan struct{})}
	setRunning(p, true)
	go func() {
		_ = cmd.Wait()
		setRunning(p, false)
		p.exit = exitOf(cmd.ProcessState)
		close(p.ended)
	}()
	return p, nil
}

func exitOf(s *os.ProcessState) Exit {
	ws, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return Exit{Code: s.ExitCode()}
	}
	names := map[syscall.Signal]Signal{syscall.SIGINT: SIGINT, syscall.SIGTERM: SIGTERM, syscall.SIGHUP: SIGHUP, syscall.SIGKILL: SIGKILL}
	if n, ok := names[ws.Signal()]; ok {
		return Exit{Code: -1, Signal: n}
	}
	return Exit{Code: -1, Signal: Signal(ws.Signal().String())}
}

func (p *child) Stdin() io.WriteCloser { return p.in }
func (p *child) Stdout() io.Reader     { return p.out }
func (p *child) Stderr() io.Reader     { return p.err }

func (p *child) Signal(s Signal) error { return signalGroup(p.cmd.Process, s) }

// SignalAlone implements AloneSignaller.
func (p *child) SignalAlone(s Signal) error { return signalAlone(p.cmd.Process, s) }

func (p *child) Wait() Exit {
	<-p.ended
	return p.exit
}

// kill ends a process, because the system has no signals.
func kill(p *os.Process, s Signal) error {
	if s != SIGTERM && s != SIGKILL {
		return fmt.Errorf("%s: this system has no signals", s)
	}
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
