package session

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/proc"
)

func TestIsSignalCode(t *testing.T) {
	for _, c := range []struct {
		signal proc.Signal
		code   int
		want   bool
	}{
		{proc.SIGKILL, -1, true},
		{proc.SIGKILL, 137, true},
		{proc.SIGKILL, -9, true},
		{proc.SIGKILL, 0, false},
		{proc.SIGKILL, 1, false},
		{proc.SIGKILL, 143, false},
		{proc.SIGTERM, 143, true},
		{proc.SIGTERM, -15, true},
		{"SIGSEGV", 139, true},
		{"SIGSEGV", 0, false},
	} {
		if got := isSignalCode(c.signal, c.code); got != c.want {
			t.Errorf("isSignalCode(%s, %d) = %v, want %v", c.signal, c.code, got, c.want)
		}
	}
}
