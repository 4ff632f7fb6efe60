package pi

import (
	"context"
	_ "embed"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/proc"
)

//go:embed permission.js
var permission string

// extension is the file of the extension that asks about tool calls. It is the zero
// value if there is nothing to ask.
type extension struct{ dir, file string }

// writeExtension writes the extension into a new folder below the child's folder for
// temporary files.
func writeExtension(o adapters.Options, mode string) (x extension, err error) {
	asked := askedTools[mode]
	if o.Judge != nil {
		asked = slices.Sorted(maps.Keys(toolNames))
	}
	if len(asked) == 0 {
		return x, nil
	}
	if x.dir, err = os.MkdirTemp(proc.Getenv(o.Env, "TMPDIR"), "turnspec-pi-*"); err != nil {
		return extension{}, err
	}
	x.file = filepath.Join(x.dir, "permission.js")
	text := strings.Replace(permission, "ASKED", `"`+strings.Join(asked, `", "`)+`"`, 1)
	if err := os.WriteFile(x.file, []byte(text), 0o600); err != nil {
		x.remove()
		return extension{}, err
	}
	return x, nil
}

// remove removes the file. A folder that cannot be removed stays where temporary files
// are removed from time to time.
func (x extension) remove() {
	if x.dir != "" {
		_ = os.RemoveAll(x.dir)
	}
}

// launcher returns a launcher whose processes remove the file when they have exited. The
// runtime reads the file when it starts, and not when the session is open.
func (x extension) launcher(l proc.Launcher) proc.Launcher {
	if l == nil {
		l = proc.Exec{}
	}
	return proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
		p, err := l.Launch(ctx, c)
		if err != nil {
			x.remove()
			return nil, err
		}
		return process{p, x}, nil
	})
}

// process is a process that reads the extension.
type process struct {
	proc.Process
	x extension
}

// Wait implements proc.Process.
func (p process) Wait() proc.Exit {
	defer p.x.remove()
	return p.Process.Wait()
}
