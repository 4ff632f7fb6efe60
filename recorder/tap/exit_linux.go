package tap

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/turnspec/turnspec/adapters/proc"
)

// openSelf returns a descriptor of this process, which stays the same when the process
// executes another program.
func openSelf() (int, error) { return unix.PidfdOpen(os.Getpid(), 0) }

// exitInfo is the struct pidfd_info of Linux.
type exitInfo struct {
	mask, cgroup uint64
	pid          uint32
	_            [10]uint32
	status       int32
}

const (
	getInfo  = 0xC040FF0B // PIDFD_GET_INFO
	infoExit = 1 << 3     // PIDFD_INFO_EXIT
)

// reapTime is how long awaitExit waits for the parent of a process that has ended.
const reapTime = 5 * time.Second

// awaitExit waits until a process has ended that is not our child, and returns how. That is
// known if Linux is 6.15 or later, or if its parent does not ask.
func awaitExit(fd int) (proc.Exit, bool) {
	if fd < 0 {
		return proc.Exit{}, false
	}
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return proc.Exit{}, false
		}
	}
	limit := time.Now().Add(reapTime)
	for {
		info := exitInfo{mask: infoExit}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), getInfo, uintptr(unsafe.Pointer(&info))) //nolint:gosec // x/sys has no function for it
		runtime.KeepAlive(&info)
		switch {
		case errno == 0 && info.mask&infoExit != 0:
			return exitOf(unix.WaitStatus(info.status)), true
		case errno != 0 && errno != unix.ESRCH || time.Now().After(limit):
			return zombieExit(fd)
		}
		// The status is known after the parent has asked for it.
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd)}}, 10)
	}
}

// zombieExit reads the status of a process that has ended, as long as its parent has not.
func zombieExit(fd int) (proc.Exit, bool) {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return proc.Exit{}, false
	}
	_, pid, _ := strings.Cut(string(info), "\nPid:")
	pid, _, _ = strings.Cut(strings.TrimSpace(pid), "\n")
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if err != nil || len(fields) < 50 || fields[0] != "Z" {
		return proc.Exit{}, false
	}
	status, err := strconv.Atoi(fields[49])
	return exitOf(unix.WaitStatus(status)), err == nil
}

func exitOf(s unix.WaitStatus) proc.Exit {
	if s.Signaled() {
		return proc.Exit{Code: -1, Signal: proc.Signal(unix.SignalName(s.Signal()))}
	}
	return proc.Exit{Code: s.ExitStatus()}
}
