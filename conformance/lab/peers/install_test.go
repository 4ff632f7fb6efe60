//go:build peers

package peers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// folder is where the peers are installed; git ignores it.
var folder = func() string {
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", ".tmp", "peers"))
	if err != nil {
		panic(err)
	}
	return dir
}()

// oldest is the Node version that the peers require.
const oldest = 22

// install installs what package-lock.json pins into the folder, and copies the plugs
// to it, so that they find the packages. Install scripts do not run, and the
// runtimes that peers depend on are left out, because a stand-in replaces them.
func install(out io.Writer) error {
	b, err := exec.Command("node", "--version").Output()
	if err != nil {
		return fmt.Errorf("node: %w: install Node %d or newer, with npm", err, oldest)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(b), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldest {
		return fmt.Errorf("node is %s: the peers need %d or newer (`npm install --prefix .tmp/node node@%d`, and .tmp/node/node_modules/.bin in PATH)", bytes.TrimSpace(b), oldest, oldest)
	}
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		return err
	}
	stamp := filepath.Join(folder, "installed.json")
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, lock) {
		return plugs()
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := errors.Join(copyTo("package.json"), copyTo("package-lock.json"), plugs()); err != nil {
		return err
	}
	fmt.Fprintf(out, "125 MB will be installed into %s\n", folder)
	cmd := exec.Command("npm", "ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci in %s: %w", folder, err)
	}
	return os.WriteFile(stamp, lock, 0o644)
}

func plugs() error {
	files, err := filepath.Glob(filepath.Join("plugs", "*.mjs"))
	for _, f := range files {
		err = errors.Join(err, copyTo(f))
	}
	return err
}

func copyTo(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, filepath.Base(file)), b, 0o644)
}

// installed returns the version of an installed package.
func installed(pack string) (string, error) {
	b, err := os.ReadFile(filepath.Join(folder, "node_modules", filepath.FromSlash(pack), "package.json"))
	if err != nil {
		return "", err
	}
	var p struct {
		Version string `json:"version"`
	}
	err = json.Unmarshal(b, &p)
	return p.Version, err
}
