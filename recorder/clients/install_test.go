//go:build clients

package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/turnspec/turnspec/recorder/runtimes"
)

// folder is where the clients are installed: beside the runtimes.
func folder() (string, error) {
	dir, err := runtimes.Dir()
	return filepath.Join(dir, "clients"), err
}

// install brings what package-lock.json pins into the folder, and the drivers
// beside it, so that they find it. Scripts of packages do not run, and the
// runtimes that clients bring along are left out: the pinned ones are used.
func install(out io.Writer) error {
	dir, err := folder()
	if err != nil {
		return err
	}
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		return err
	}
	stamp := filepath.Join(dir, "installed.json")
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, lock) {
		return drivers(dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := errors.Join(copyTo(dir, "package.json"), copyTo(dir, "package-lock.json"), drivers(dir)); err != nil {
		return err
	}
	fmt.Fprintf(out, "86 MB will be installed into %s\n", dir)
	cmd := exec.Command("npm", "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci: %w", err)
	}
	return os.WriteFile(stamp, lock, 0o644)
}

func drivers(dir string) error {
	files, err := filepath.Glob("*.mjs")
	for _, f := range files {
		err = errors.Join(err, copyTo(dir, f))
	}
	return err
}

func copyTo(dir, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, file), b, 0o644)
}
