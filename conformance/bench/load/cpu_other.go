//go:build !unix

package load

// cpuTime returns 0: the CPU time of this program is not known here.
func cpuTime() int64 { return 0 }
