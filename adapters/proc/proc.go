// Package proc answers one question: how is a child process started, talked to
// and ended?
//
// It uses standard types only and imports nothing of this module, so that
// adapters, stand-ins and the recorder may all build on it. A Launcher is the
// seam: Exec starts a real process in a group of its own, a stand-in gives
// pipes.
package proc

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Command says what to start.
type Command struct {
	Argv []string // program and arguments
	Dir  string   // working directory
	Env  []string // the whole environment; nil is the parent's
}

// Launcher starts processes.
type Launcher interface {
	Launch(ctx context.Context, c Command) (Process, error)
}

// LauncherFunc is a function as a Launcher.
type LauncherFunc func(ctx context.Context, c Command) (Process, error)

// Launch implements Launcher.
func (f LauncherFunc) Launch(ctx context.Context, c Command) (Process, error) { return f(ctx, c) }

// Signal is what a process can be sent, without an operating system's type.
type Signal string

// The signals.
const (
	SIGINT  Signal = "SIGINT"
	SIGTERM Signal = "SIGTERM"
	SIGHUP  Signal = "SIGHUP"
	SIGKILL Signal = "SIGKILL"
)

// Process is a started child. Stdout and Stderr must be read to their end;
// Wait may be called by several goroutines and before that end.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	// Signal reaches the whole process group.
	Signal(s Signal) error
	// Wait returns how the process ended, when it has.
	Wait() Exit
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // exit code; -1 when a signal ended it
	Signal Signal // the signal that ended it, or ""
}

func (e Exit) String() string {
	if e.Signal != "" {
		return "ended by " + string(e.Signal)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Grace is how long a process is given at each step of its end.
type Grace struct {
	Stdin time.Duration // after its stdin was closed
	Term  time.Duration // after SIGTERM
}

// End ends a process gently: stdin is closed, then SIGTERM, then SIGKILL. It
// returns when the process has ended, and at the latest after both graces. The
// group is killed at the end in any case, so that no descendant is left.
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
