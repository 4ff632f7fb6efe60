package main

import (
	"os"
	"syscall"
)

// resident returns the most bytes of memory that a process had.
func resident(p *os.ProcessState) int64 {
	if r, ok := p.SysUsage().(*syscall.Rusage); ok {
		return r.Maxrss << 10 // KiB
	}
	return 0
}
