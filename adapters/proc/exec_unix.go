//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func signalGroup(p *os.Process, s Signal) error {
	sig, ok := map[Signal]syscall.Signal{SIGINT: syscall.SIGINT, SIGTERM: syscall.SIGTERM, SIGHUP: syscall.SIGHUP, SIGKILL: syscall.SIGKILL}[s]
	if !ok {
		return errors.New("unknown signal " + string(s))
	}
	err := syscall.Kill(-p.Pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
