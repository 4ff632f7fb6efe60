package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// began is a moment by the clock that all processes of the machine share, and by
// Go's own, which is cheap to ask and runs at the same pace.
var beganShared, began = func() (int64, time.Time) {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return time.Now().UnixNano(), time.Now()
	}
	return ts.Nano(), time.Now()
}()

// Now is the time in nanoseconds by a clock that all processes of this machine
// share (CLOCK_MONOTONIC; what Node calls process.hrtime).
func Now() int64 { return beganShared + int64(time.Since(began)) }

// sleepUntil waits for a time, and holds its thread: the runtime's own timers
// are late by up to a millisecond.
func sleepUntil(due int64) {
	for {
		d := due - Now()
		if d <= 0 {
			return
		}
		ts := unix.NsecToTimespec(d)
		_ = unix.Nanosleep(&ts, nil) // woken early, it sleeps again
	}
}
