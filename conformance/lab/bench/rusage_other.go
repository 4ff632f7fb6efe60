//go:build !unix

package bench

// CPUTime returns 0: CPU times are not known here.
func CPUTime() (self, children int64) { return 0, 0 }
