// Package proc starts and ends child processes.
//
// A Launcher starts one: Exec starts a real process in its own process group, and a
// stand-in returns pipes. The package uses standard types only, so that adapters,
// stand-ins and the recorder can all use it.
package proc

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// Command is a command to start.
type Command struct {
	Argv []string // program and arguments
	Dir  string   // working directory
	Env  []string // the whole environment; nil means what Environ returns
}

// Launcher starts processes.
type Launcher interface {
	Launch(ctx context.Context, c Command) (Process, error)
}

// LauncherFunc is a function as a Launcher.
type LauncherFunc func(ctx context.Context, c Command) (Process, error)

// Launch implements Launcher.
func (f LauncherFunc) Launch(ctx context.Context, c Command) (Process, error) { return f(ctx, c) }

// Dialer is implemented by a Launcher that also provides the network on which an adapter reaches
// servers. With any other Launcher that is the network of the machine.
type Dialer interface {
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// Signal is a signal to a process, independent of the operating system's type.
type Signal string

// The signals.
const (
	SIGINT  Signal = "SIGINT"
	SIGTERM Signal = "SIGTERM"
	SIGHUP  Signal = "SIGHUP"
	SIGKILL Signal = "SIGKILL"
)

// Process is a started child process. The caller must read Stdout and Stderr to their
// end. Several goroutines may call Wait, also before that.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	// Signal sends s to the whole process group.
	Signal(s Signal) error
	// Wait waits until the process has exited.
	Wait() Exit
}

// AloneSignaller is a Process that can be signalled without its group.
type AloneSignaller interface {
	// SignalAlone sends s to the process, and not to those that it started.
	SignalAlone(s Signal) error
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // exit code; -1 if a signal ended it
	Signal Signal // the signal that ended it, or ""
}

func (e Exit) String() string {
	if e.Signal != "" {
		return "ended by " + string(e.Signal)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Grace is how long End waits at each of its steps.
type Grace struct {
	Stdin time.Duration // after closing stdin
	Term  time.Duration // after SIGTERM
}

// End ends a process gently: it closes stdin, then sends SIGTERM, then SIGKILL. It
// returns when the process has exited, at the latest after both graces. It kills the
// process group in any case, so that no descendant is left.
func End(p Process, g Grace) Exit {
	_ = p.Stdin().Close()
	done := make(chan Exit, 1)
	go func() { done <- p.Wait() }()
	for _, step := range []struct {
		wait time.Duration
		then Signal
	}{{g.Stdin, SIGTERM}, {g.Term, SIGKILL}} {
		t := time.NewTimer(step.wait)
		select {
		case e := <-done:
			t.Stop()
			_ = p.Signal(SIGKILL)
			return e
		case <-t.C:
			_ = p.Signal(step.then)
		}
	}
	return <-done
}
