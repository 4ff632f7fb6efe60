//go:build !unix

package proc

import (
	"errors"
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func signalAlone(*os.Process, Signal) error { return errors.ErrUnsupported }

func signalGroup(p *os.Process, s Signal) error { return kill(p, s) }
