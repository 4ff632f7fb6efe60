//go:build unix

package curve

import (
	"os"
	"runtime"
	"syscall"
)

// mostResident returns the maximum resident memory of an ended program, in bytes.
func mostResident(p *os.ProcessState) float64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss)
	}
	return float64(u.Maxrss) * 1024
}
