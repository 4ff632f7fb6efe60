//go:build !linux

package isolate

import (
	"errors"
	"runtime"
)

// Enter says that recording needs Linux.
func Enter([]string) (reexeced bool, exitCode int, err error) {
	return false, 0, errors.New("recording needs Linux: a runtime is kept in a network namespace, and " + runtime.GOOS + " has none; playing and checking work here")
}

// Isolated reports whether this process stands in its own network.
func Isolated() bool { return false }

// Report says, a line each, what keeps the runtime apart.
func Report() []string {
	return []string{"network: the machine's own: no namespaces on " + runtime.GOOS}
}

// sweep: nothing is recorded here.
func (r *Rooms) sweep() {}
