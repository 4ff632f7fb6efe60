//go:build !unix

package curve

import "os"

// mostResident returns 0: the system does not report it.
func mostResident(*os.ProcessState) float64 { return 0 }
