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

	"github.com/turnspec/turnspec/fixtures/wire"
)

// releaseFile is in the folder of a version that is not pinned, and describes its
// package.
const releaseFile = "turnspec-release.json"

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+[-.\w]*`)

// Latest returns the newest version of a runtime in the npm registry; of a runtime with several
// agents that of the agent of the version like.
func Latest(ctx context.Context, name, like string) (string, error) {
	p, _, err := pinnedLike(name, like)
	if err != nil {
		return "", err
	}
	var tags map[string]string
	if err := npmView(ctx, &tags, p.Package, "dist-tags"); err != nil {
		return "", err
	}
	if tags["latest"] == "" {
		return "", fmt.Errorf("the registry names no latest version of %s", p.Package)
	}
	agent, _ := wire.SplitVersion(like)
	if agent != "" {
		agent += "-"
	}
	return agent + tags["latest"], nil
}

// pinnedLike returns the newest pinned package of the agent of a version; of a runtime that is one
// program, its newest.
func pinnedLike(name, version string) (Package, string, error) {
	if agent, _ := wire.SplitVersion(version); agent != "" {
		for _, pinned := range Versions(name) {
			if a, _ := wire.SplitVersion(pinned); a == agent {
				return pinnedPackage(name, pinned)
			}
		}
	}
	return pinnedPackage(name, "")
}

// errRegistry reports that the registry's entry of a package lacks a field, or that
// there is no entry.
var errRegistry = errors.New("the registry")

// npmView reads one field of a package's entry in the registry.
func npmView(ctx context.Context, into any, spec, field string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("the runtimes come from the npm registry: install npm: %w", err)
	}
	out, err := exec.CommandContext(ctx, npm, "view", spec, field, "--json").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("npm view %s: %w\n%s", spec, err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return fmt.Errorf("%w has no %s of %s", errRegistry, field, spec)
	}
	return json.Unmarshal(out, into)
}

// Ensure finds a version, pinned or not, and installs it if it is missing. If the
// version is not pinned, its integrity comes from the registry itself and proves
// only that the download is complete.
func Ensure(ctx context.Context, dir, name, version string, out io.Writer) (Runtime, error) {
	if rt, err := Find(dir, name, version); err == nil {
		return rt, nil
	}
	if _, _, err := pinnedPackage(name, version); err == nil {
		if err := Install(ctx, dir, out, []Pin{{name, version}}); err != nil {
			return Runtime{}, err
		}
		return Find(dir, name, version)
	}
	p, err := findRelease(ctx, name, version)
	if err != nil {
		return Runtime{}, err
	}
	if dir == "" {
		if dir, err = Dir(); err != nil {
			return Runtime{}, err
		}
	}
	root := filepath.Join(dir, name, version)
	fmt.Fprintf(out, "%s %s, which is not pinned: %s@%s, %s …\n", name, version, p.Package, p.Version, sizeText(p.Unpacked))
	if err := installPackage(ctx, root, p); err != nil {
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

// findRelease returns the package of a version that is not pinned. It is expected to
// have the layout of the newest pinned one.
func findRelease(ctx context.Context, name, version string) (Package, error) {
	p, old, err := pinnedLike(name, version)
	if err != nil {
		return p, err
	}
	_, old = wire.SplitVersion(old)
	_, number := wire.SplitVersion(version)
	if !versionNumber.MatchString(version) {
		return p, fmt.Errorf("%q is not a version of %s", version, name)
	}
	p.Version, p.Lock = strings.Replace(p.Version, old, number, 1), ""
	spec := p.Package + "@" + p.Version
	if err := npmView(ctx, &p.Integrity, spec, "dist.integrity"); err != nil {
		return p, err
	}
	// The size is only printed, and many entries have none.
	p.Unpacked = 0
	if err := npmView(ctx, &p.Unpacked, spec, "dist.unpackedSize"); err != nil && !errors.Is(err, errRegistry) {
		return p, err
	}
	return p, nil
}

func sizeText(bytes int64) string {
	if bytes == 0 {
		return "of unknown size"
	}
	return fmt.Sprintf("%d MB", bytes/1_000_000)
}

// unpinnedPackage returns the package of an installed version that is not pinned.
func unpinnedPackage(dir, name, version string) (Package, bool) {
	var p Package
	b, err := os.ReadFile(filepath.Join(dir, programOf(name), version, releaseFile))
	if version == "" || err != nil {
		return p, false
	}
	return p, json.Unmarshal(b, &p) == nil
}

// AtPath returns the runtime of a program, and asks it for its version.
func AtPath(ctx context.Context, name, program string) (Runtime, error) {
	if _, _, err := pinnedPackage(name, ""); err != nil {
		return Runtime{}, err
	}
	abs, err := filepath.Abs(program)
	if err != nil {
		return Runtime{}, err
	}
	if info, err := os.Stat(abs); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return Runtime{}, fmt.Errorf("%s is not a program for %s", program, runtime.GOOS)
	}
	home, err := os.MkdirTemp("", "turnspec-version-")
	if err != nil {
		return Runtime{}, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	cmd := exec.CommandContext(ctx, abs, "--version")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput() // some print it on stderr
	if err != nil {
		return Runtime{}, fmt.Errorf("%s --version: %w", program, err)
	}
	version := versionNumber.FindString(string(out))
	if version == "" {
		return Runtime{}, fmt.Errorf("%s --version prints %q, which holds no version", program, out)
	}
	return Runtime{Name: name, Version: version, Root: filepath.Dir(abs), Binary: abs}, nil
}
