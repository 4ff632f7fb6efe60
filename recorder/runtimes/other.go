package runtimes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/go-json-experiment/json"
)

// releaseFile stands in the folder of a version that is not pinned and says
// which package it is.
const releaseFile = "turnspec-release.json"

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+[-.\w]*`)

// Latest asks the npm registry which version of a runtime is the newest.
func Latest(ctx context.Context, name string) (string, error) {
	p, _, err := pinned(name, "")
	if err != nil {
		return "", err
	}
	var tags map[string]string
	if err := view(ctx, &tags, p.Package, "dist-tags"); err != nil {
		return "", err
	}
	if tags["latest"] == "" {
		return "", fmt.Errorf("the registry names no latest version of %s", p.Package)
	}
	return tags["latest"], nil
}

// view reads one field of a package's entry in the registry.
func view(ctx context.Context, into any, spec, field string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("the runtimes come from the npm registry, and npm is not here: %w", err)
	}
	out, err := exec.CommandContext(ctx, npm, "view", spec, field, "--json").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("npm view %s: %w\n%s", spec, err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return fmt.Errorf("the registry has no %s", spec)
	}
	return json.Unmarshal(out, into)
}

// Ensure finds a version, pinned or not, and installs it when it is not there.
// Of one that is not pinned the registry itself says the integrity: what comes
// is what the registry has, no more is proven.
func Ensure(ctx context.Context, dir, name, version string, out io.Writer) (Runtime, error) {
	if rt, err := Find(dir, name, version); err == nil {
		return rt, nil
	}
	if _, _, err := pinned(name, version); err == nil {
		if err := Install(ctx, dir, out, []Pin{{name, version}}); err != nil {
			return Runtime{}, err
		}
		return Find(dir, name, version)
	}
	p, err := release(ctx, name, version)
	if err != nil {
		return Runtime{}, err
	}
	if dir == "" {
		if dir, err = Dir(); err != nil {
			return Runtime{}, err
		}
	}
	root := filepath.Join(dir, name, version)
	fmt.Fprintf(out, "%s %s, which is not pinned: %s@%s, %d MB …\n", name, version, p.Package, p.Version, p.Unpacked/1_000_000)
	if err := install(ctx, root, p); err != nil {
		return Runtime{}, fmt.Errorf("install %s %s: %w", name, version, err)
	}
	b, err := json.Marshal(p)
	if err != nil {
		return Runtime{}, err
	}
	if err := os.WriteFile(filepath.Join(root, releaseFile), b, 0o644); err != nil {
		return Runtime{}, err
	}
	return Find(dir, name, version)
}

// release is the package of a version that is not pinned, laid out as that of
// the newest pinned one.
func release(ctx context.Context, name, version string) (Package, error) {
	p, old, err := pinned(name, "")
	if err != nil {
		return p, err
	}
	if !versionNumber.MatchString(version) {
		return p, fmt.Errorf("%q is no version of %s", version, name)
	}
	p.Version = strings.Replace(p.Version, old, version, 1)
	spec := p.Package + "@" + p.Version
	if err := view(ctx, &p.Integrity, spec, "dist.integrity"); err != nil {
		return p, err
	}
	err = view(ctx, &p.Unpacked, spec, "dist.unpackedSize")
	return p, err
}

// unpinned is the package of an installed version that is not pinned.
func unpinned(dir, name, version string) (Package, bool) {
	var p Package
	b, err := os.ReadFile(filepath.Join(dir, program(name), version, releaseFile))
	if version == "" || err != nil {
		return p, false
	}
	return p, json.Unmarshal(b, &p) == nil
}

// AtPath is the runtime that a program is; it says its version itself.
func AtPath(ctx context.Context, name, program string) (Runtime, error) {
	if _, _, err := pinned(name, ""); err != nil {
		return Runtime{}, err
	}
	abs, err := filepath.Abs(program)
	if err != nil {
		return Runtime{}, err
	}
	if info, err := os.Stat(abs); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return Runtime{}, fmt.Errorf("%s is no program on %s", program, runtime.GOOS)
	}
	home, err := os.MkdirTemp("", "turnspec-version-")
	if err != nil {
		return Runtime{}, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	cmd := exec.CommandContext(ctx, abs, "--version")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	if err != nil {
		return Runtime{}, fmt.Errorf("%s --version: %w", program, err)
	}
	version := versionNumber.FindString(string(out))
	if version == "" {
		return Runtime{}, fmt.Errorf("%s --version says %q, which names no version", program, out)
	}
	return Runtime{Name: name, Version: version, Root: filepath.Dir(abs), Binary: abs}, nil
}
