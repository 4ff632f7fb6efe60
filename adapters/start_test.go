//go:build unix

package adapters_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// TestOpenReportsStartFailures opens real programs that are not runtimes.
func TestOpenReportsStartFailures(t *testing.T) {
	dir := t.TempDir()
	text, mute, closed := filepath.Join(dir, "text"), filepath.Join(dir, "mute"), filepath.Join(dir, "closed")
	gomega.NewWithT(t).Expect(os.WriteFile(text, []byte("words\n"), 0o644)).To(gomega.Succeed())
	gomega.NewWithT(t).Expect(os.WriteFile(mute, []byte("#!/bin/sh\ncat > /dev/null\n:\n"), 0o755)).To(gomega.Succeed())
	gomega.NewWithT(t).Expect(os.WriteFile(closed, []byte("#!/bin/sh\nexec cat > /dev/null\n"), 0o755)).To(gomega.Succeed())
	for name, adapter := range map[string]adapters.Adapter{"claude": claude.New(), "codex": codex.New()} {
		for what, c := range map[string]struct {
			command []string
			limits  adapters.Limits
			code    event.ErrorCode
			is      error
			stderr  string
			exit    int
		}{
			"not found":      {command: []string{filepath.Join(dir, "none")}, code: event.ErrorStartFailure, is: fs.ErrNotExist},
			"not executable": {command: []string{text}, code: event.ErrorStartFailure, is: fs.ErrPermission},
			"exits at once":  {command: []string{"/bin/sh", "-c", "echo no such luck >&2; exit 3"}, code: event.ErrorStartFailure, stderr: "no such luck", exit: 3},
			"no handshake":   {command: []string{mute}, limits: adapters.Limits{Handshake: 50 * time.Millisecond}, code: event.ErrorTimeout},
			"closes stdout":  {command: []string{closed}, limits: adapters.Limits{CloseStdin: 50 * time.Millisecond}, code: event.ErrorCrash},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				g := gomega.NewWithT(t)
				_, err := adapter.Open(t.Context(), adapters.Options{Opening: op.Opening{Command: c.command, Dir: dir}, Limits: c.limits})
				typed, ok := errors.AsType[*adapters.OpenError](err)
				g.Expect(ok).To(gomega.BeTrue(), "%v", err)
				g.Expect(typed.Code).To(gomega.Equal(c.code), "%v", err)
				g.Expect(typed.Stderr).To(gomega.Equal(c.stderr))
				if c.is != nil {
					g.Expect(errors.Is(err, c.is)).To(gomega.BeTrue(), "%v", err)
				}
				if c.exit != 0 {
					g.Expect(typed.Exit).NotTo(gomega.BeNil())
					g.Expect(*typed.Exit).To(gomega.Equal(c.exit))
				}
			})
		}
	}
}
