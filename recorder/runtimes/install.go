package runtimes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Install installs pinned versions into dir, or Dir if it is "". It reports its
// progress to out, the size first. It skips versions that are installed. An
// installation that fails leaves nothing.
func Install(ctx context.Context, dir string, out io.Writer, pins []Pin) error {
	if dir == "" {
		var err error
		if dir, err = Dir(); err != nil {
			return err
		}
	}
	type job struct {
		name, version string
		pkg           Package
	}
	var todo []job
	var size int64
	pins = slices.Clone(pins)
	for i := 0; i < len(pins); i++ {
		pin := pins[i]
		if slices.Contains(pins[:i], pin) {
			continue
		}
		p, _, err := pinnedPackage(pin.Name, pin.Version)
		if err != nil {
			return err
		}
		for _, used := range slices.Sorted(maps.Keys(p.Uses)) {
			pins = append(pins, Pin{used, p.Uses[used]})
		}
		if rt, err := Find(dir, pin.Name, pin.Version); err == nil {
			fmt.Fprintf(out, "%s is installed: %s\n", pin, rt.Binary)
			continue
		}
		if p.Package == "" {
			continue // it is installed with what it uses
		}
		todo = append(todo, job{pin.Name, pin.Version, p})
		size += p.Unpacked
	}
	if len(todo) == 0 {
		return nil
	}
	fmt.Fprintf(out, "%d MB will be installed into %s\n", (size+999_999)/1_000_000, dir)
	for _, w := range todo {
		fmt.Fprintf(out, "%s %s: %s@%s, %d MB …\n", w.name, w.version, w.pkg.Package, w.pkg.Version, w.pkg.Unpacked/1_000_000)
		if err := installPackage(ctx, filepath.Join(dir, w.name, w.version), w.pkg); err != nil {
			return fmt.Errorf("install %s %s: %w", w.name, w.version, err)
		}
	}
	return nil
}

// manifest is the part of package.json that npm needs.
type manifest struct {
	Name         string            `json:"name"`
	Private      bool              `json:"private"`
	Dependencies map[string]string `json:"dependencies"`
}

type lockedPackage struct {
	Name         string            `json:"name,omitempty"`
	Version      string            `json:"version,omitempty"`
	Resolved     string            `json:"resolved,omitempty"`
	Integrity    string            `json:"integrity,omitempty"`
	Dependencies map[string]string `json:"dependencies,omitempty"`
}

type packageLock struct {
	Name            string                   `json:"name"`
	LockfileVersion int                      `json:"lockfileVersion"`
	Requires        bool                     `json:"requires"`
	Packages        map[string]lockedPackage `json:"packages"`
}

// writeManifests writes what npm needs to install a package and those beside it, and
// reports whether they are locked. npm rejects a locked package that does not have the
// integrity.
func writeManifests(dir string, p Package) (locked bool, err error) {
	spec := p.Version
	if p.Name != p.Package {
		spec = "npm:" + p.Package + "@" + p.Version
	}
	deps := map[string]string{p.Name: spec}
	maps.Copy(deps, p.Beside)
	if err := writeJSON(filepath.Join(dir, "package.json"), manifest{"runtime", true, deps}); err != nil {
		return false, err
	}
	lockPath := filepath.Join(dir, "package-lock.json")
	switch {
	case p.Lock != "":
		b, err := npmLocks.ReadFile("npm/" + p.Lock)
		if err != nil {
			return false, err
		}
		return true, os.WriteFile(lockPath, b, 0o644)
	case len(p.Beside) > 0: // nothing pins what the package needs
		return false, nil
	}
	base := p.Package[strings.LastIndex(p.Package, "/")+1:]
	return true, writeJSON(lockPath, packageLock{"runtime", 3, true, map[string]lockedPackage{
		"": {Name: "runtime", Dependencies: deps},
		"node_modules/" + p.Name: {
			Name: p.Package, Version: p.Version, Integrity: p.Integrity,
			Resolved: fmt.Sprintf("https://registry.npmjs.org/%s/-/%s-%s.tgz", p.Package, base, p.Version),
		},
	}})
}

func writeJSON(file string, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// installPackage fetches a package into a temporary folder and renames it to target.
func installPackage(ctx context.Context, target string, p Package) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("the runtimes come from the npm registry: install npm")
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(target), ".installing-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	// npm does not find the lock of several packages through a link.
	if tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return err
	}
	locked, err := writeManifests(tmp, p)
	if err != nil {
		return err
	}
	command := "ci" // only ci uses the lock as it is
	if !locked {
		command = "install"
	}
	// The packages hold the programs, so their scripts need not run.
	cmd := exec.CommandContext(ctx, npm, command, "--prefix", tmp, "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--loglevel=error")
	cmd.Dir = tmp
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm %s: %w\n%s", command, err, bytes.TrimSpace(output.Bytes()))
	}
	rt := layout(p, tmp)
	if info, err := os.Stat(rt.Binary); err != nil || info.Mode()&0o111 == 0 {
		return fmt.Errorf("the package holds no program %s", p.Binary)
	}
	if err := os.RemoveAll(target); err != nil { // a folder without the binary
		return err
	}
	return os.Rename(tmp, target)
}
