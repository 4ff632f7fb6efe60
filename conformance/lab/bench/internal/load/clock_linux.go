package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// beganShared is a moment by the clock that all processes of the machine share, and by
// Go's clock, which is cheap to read and runs at the same rate.
var beganShared, clockStart = func() (int64, time.Time) {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return time.Now().UnixNano(), time.Now()
	}
	return ts.Nano(), time.Now()
}()

// Now returns the time in nanoseconds by a clock that all processes of this machine
// share (CLOCK_MONOTONIC; process.hrtime in Node).
func Now() int64 { return beganShared + int64(time.Since(clockStart)) }

// sleepUntil waits for a time and blocks its thread, because the runtime's timers
// are late by up to a millisecond.
func sleepUntil(due int64) {
	for {
		d := due - Now()
		if d <= 0 {
			return
		}
		ts := unix.NsecToTimespec(d)
		_ = unix.Nanosleep(&ts, nil) // if it is interrupted, the loop sleeps again
	}
}
