//go:build unix

package relay

import (
	"os"
	"syscall"
)

// closableStdin returns stdin as a file whose Close takes effect at once, also while it
// is being read: a client's next write then fails.
func closableStdin() *os.File {
	if err := syscall.SetNonblock(0, true); err != nil {
		return os.Stdin
	}
	return os.NewFile(0, "stdin")
}
