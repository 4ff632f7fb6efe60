//go:build !linux

package proc

import "os/exec"

// StartBound starts a command that the kernel kills with SIGKILL when this program ends, in whatever
// way. On other systems than Linux it is cmd.Start.
func StartBound(cmd *exec.Cmd) error { return cmd.Start() }
