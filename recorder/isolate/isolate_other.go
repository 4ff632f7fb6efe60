//go:build !linux

package isolate

import (
	"errors"
	"runtime"
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
