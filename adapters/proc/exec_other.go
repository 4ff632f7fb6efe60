//go:build !unix

package proc

import (
	"context"
	"errors"
)

// Exec launches real processes. On this system Launch returns an error.
type Exec struct{}

// Launch implements Launcher.
func (Exec) Launch(context.Context, Command) (Process, error) {
	return nil, errors.New("starting a runtime needs Linux or macOS: process groups and signals are not available here")
}
