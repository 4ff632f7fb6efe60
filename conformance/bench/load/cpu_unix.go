//go:build unix

package load

import "golang.org/x/sys/unix"

// cpu is what this program has used, in nanoseconds.
func cpu() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
