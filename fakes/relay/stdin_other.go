//go:build !unix

package relay

import "os"

// closableStdin returns stdin. Its Close may take effect only after a read.
func closableStdin() *os.File { return os.Stdin }
