package proc

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// StartBound starts a command that the kernel kills with SIGKILL when this program ends, in whatever
// way. On other systems than Linux it is cmd.Start.
func StartBound(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	done := make(chan error)
	starter() <- func() { done <- cmd.Start() }
	return <-done
}

// starter returns the requests to a thread that lives as long as the program. The signal comes when
// the thread ends that started a process, and Go may end a thread at any time.
var starter = sync.OnceValue(func() chan<- func() {
	requests := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range requests {
			start()
		}
	}()
	return requests
})
