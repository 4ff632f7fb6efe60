//go:build !unix

package proc

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func signalGroup(p *os.Process, s Signal) error { return kill(p, s) }
