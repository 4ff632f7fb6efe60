//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func signalGroup(p *os.Process, s Signal) error { return signalPID(-p.Pid, s) }

func signalAlone(p *os.Process, s Signal) error { return signalPID(p.Pid, s) }

// signalPID signals a process, or the group with that number if it is negative.
func signalPID(pid int, s Signal) error {
	sig, ok := map[Signal]syscall.Signal{SIGINT: syscall.SIGINT, SIGTERM: syscall.SIGTERM, SIGHUP: syscall.SIGHUP, SIGKILL: syscall.SIGKILL}[s]
	if !ok {
		return errors.New("unknown signal " + string(s))
	}
	err := syscall.Kill(pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
