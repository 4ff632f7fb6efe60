//go:build unix

package load

import "golang.org/x/sys/unix"

// CPUTime returns the CPU time of this program, in nanoseconds.
func CPUTime() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
