//go:build !linux

package load

import "time"

// Now returns the time in nanoseconds by the wall clock, which all processes share.
func Now() int64 { return time.Now().UnixNano() }

// sleepUntil waits for a time.
func sleepUntil(due int64) { time.Sleep(time.Duration(due - Now())) }
