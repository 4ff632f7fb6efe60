//go:build !unix

package tap

import (
	"errors"
	"io"
)

// Exec returns an error: a process cannot execute another program in its place.
func Exec(string, []string, io.Writer) error {
	return errors.New("turnspec tap needs a Unix system, because the program takes the place of its process")
}

// Main does nothing.
func Main([]string) bool { return false }
