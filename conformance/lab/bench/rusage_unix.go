//go:build unix

package bench

import "golang.org/x/sys/unix"

// CPUTime returns the CPU time, in nanoseconds, of this program and of the children
// that it has waited for.
func CPUTime() (self, children int64) { return rusage(unix.RUSAGE_SELF), rusage(unix.RUSAGE_CHILDREN) }

func rusage(who int) int64 {
	var u unix.Rusage
	if unix.Getrusage(who, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
