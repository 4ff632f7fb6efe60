package isolate

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killProcesses kills the processes whose home is in these rooms. A runtime starts
// the commands of its tools in sessions of their own. A command that waits for a file
// would never exit if the recording failed before the file was made.
func (r *Rooms) killProcesses() {
	home := []byte("HOME=" + r.Home)
	for range 3 { // a killed process may just have started another
		found := false
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			return
		}
		for _, file := range environs {
			env, err := os.ReadFile(file)
			if err != nil || !hasEntry(env, home) { // it has exited, or belongs to another user
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err == nil && pid != os.Getpid() {
				found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
			}
		}
		if !found {
			return
		}
	}
}

func hasEntry(environ, entry []byte) bool {
	for one := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(one, entry) {
			return true
		}
	}
	return false
}
