package pi_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/pi"
	"github.com/turnspec/turnspec/adapters/proc"
)

// The file of the extension exists when the program starts, and is removed when it has
// exited or did not start.
func TestExtensionIsRemoved(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, launch := range map[string]proc.LauncherFunc{
		"the program exits": proc.Exec{}.Launch,
		"the program does not start": func(context.Context, proc.Command) (proc.Process, error) {
			return nil, errors.New("not today")
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tmp := t.TempDir()
			var files []string
			_, err := pi.New().Open(t.Context(), adapters.Options{
				Opening: op.Opening{Command: []string{self, "-test.run=^$"}, Mode: adapters.ModeAsk},
				Env:     append(os.Environ(), "TMPDIR="+tmp),
				Launch: proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
					files, _ = filepath.Glob(filepath.Join(tmp, "*", "permission.js"))
					g.Expect(c.Argv).To(ContainElements("-e", files[0]))
					return launch(ctx, c)
				}),
			})
			g.Expect(err).To(HaveOccurred())
			g.Expect(files).To(HaveLen(1))
			g.Expect(os.ReadDir(tmp)).To(BeEmpty())
		})
	}
}
