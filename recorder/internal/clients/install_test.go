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

// folder is where the clients are installed, next to the runtimes.
func folder() (string, error) {
	dir, err := runtimes.Dir()
	return filepath.Join(dir, "clients"), err
}

// install installs the packages of package-lock.json into the folder and copies the
// drivers there. It runs no scripts of packages, and leaves out the runtimes that
// clients depend on, because the pinned ones are used.
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
		return copyDrivers(dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := errors.Join(copyTo(dir, "package.json"), copyTo(dir, "package-lock.json"), copyDrivers(dir)); err != nil {
		return err
	}
	fmt.Fprintf(out, "105 MB will be installed into %s\n", dir)
	cmd := exec.Command("npm", "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci: %w", err)
	}
	return os.WriteFile(stamp, lock, 0o644)
}

func copyDrivers(dir string) error {
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
