//go:build !linux

package isolate

import (
	"errors"
	"runtime"

	"github.com/turnspec/turnspec/adapters/proc"
)

// Enter returns an error, because recording needs Linux.
func Enter([]string) (reexeced bool, exitCode int, err error) {
	return false, 0, errors.New("recording needs Linux, because " + runtime.GOOS + " has no network namespaces: record on Linux; replaying and checking work here")
}

// Isolated reports whether this process has a network of its own.
func Isolated() bool { return false }

// Report describes the isolation of the runtime, in lines.
func Report() []string {
	return []string{"network: the machine's own: no namespaces on " + runtime.GOOS}
}

// killProcesses does nothing, because nothing is recorded here.
func (r *Rooms) killProcesses() {}

// Launcher returns proc.Exec.
func (r *Rooms) Launcher() proc.Launcher { return proc.Exec{} }

// ReportTmp describes what processes of Launcher see as /tmp.
func ReportTmp() string { return "/tmp: the machine's own" }

func hasPrivate() bool { return false }

func sharedFolders() []string { return nil }
