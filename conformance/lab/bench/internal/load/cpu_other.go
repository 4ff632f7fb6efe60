//go:build !unix

package load

// CPUTime returns 0: the CPU time of this program is not known here.
func CPUTime() int64 { return 0 }
