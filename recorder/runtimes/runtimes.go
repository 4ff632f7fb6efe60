// Package runtimes answers one question: where is the real runtime, in just the
// version that is meant?
//
// The versions are pinned in lock.json: package, integrity, size. Install gets
// them from the npm registry with the npm client into a folder that is not
// committed; Find says where the native binary lies. No Node stands between a
// recording and the runtime.
package runtimes

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

//go:embed lock.json
var lockFile []byte

// Env names the variable that says where runtimes are installed.
const Env = "TURNSPEC_RUNTIMES"

// Release is one pinned version of a runtime.
type Release struct {
	Version   string             `json:"version"`
	Platforms map[string]Package `json:"platforms"` // by GOOS/GOARCH
}

// Package is the npm package that holds a runtime's native binary.
type Package struct {
	Name      string   `json:"name"`    // the folder below node_modules
	Package   string   `json:"package"` // its name in the registry
	Version   string   `json:"version"`
	Integrity string   `json:"integrity"`
	Unpacked  int64    `json:"unpacked"`       // bytes
	Binary    string   `json:"binary"`         // below the package's folder
	Path      []string `json:"path,omitempty"` // folders of programs that the runtime starts
}

// Runtime is an installed runtime.
type Runtime struct {
	Name, Version string
	Root          string   // the install folder
	Binary        string   // the native binary
	Path          []string // folders that stand before PATH
}

var lock = sync.OnceValues(func() (map[string][]Release, error) {
	var l map[string][]Release
	if err := json.Unmarshal(lockFile, &l, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("recorder/runtimes/lock.json: %w", err)
	}
	return l, nil
})

// Names returns the pinned runtimes, sorted.
func Names() []string {
	l, err := lock()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l))
}

// ways are further ways to start a pinned runtime, each with a wire of its own:
// `codex exec --json`.
var ways = map[string]string{"codexexec": "codex"}

// Kinds returns the pinned runtimes and the further ways to start them, sorted.
func Kinds() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(Names(), maps.Keys(ways))))
}

// program is the runtime that is started in that way.
func program(name string) string { return cmp.Or(ways[name], name) }

// Versions returns the pinned versions of a runtime, the newest first: it is
// the default.
func Versions(name string) []string {
	l, _ := lock()
	var out []string
	for _, r := range l[program(name)] {
		out = append(out, r.Version)
	}
	return out
}

// Pin is a pinned version of a runtime.
type Pin struct{ Name, Version string }

func (p Pin) String() string { return p.Name + " " + p.Version }

// Choose says which pinned versions are meant: NAME@VERSION is just that one,
// NAME the newest, or with all every version of it. No name means every runtime.
func Choose(all bool, names ...string) ([]Pin, error) {
	if len(names) == 0 {
		names = Names()
	}
	var out []Pin
	for _, n := range names {
		name, version, exact := strings.Cut(n, "@")
		if _, ok := slices.BinarySearch(Kinds(), name); !ok {
			return nil, notPinned(name)
		}
		versions := Versions(name)
		switch {
		case exact && !slices.Contains(versions, version):
			return nil, fmt.Errorf("%s %s is not pinned, only %s", name, version, strings.Join(versions, ", "))
		case exact:
			versions = []string{version}
		case !all:
			versions = versions[:1]
		}
		for _, v := range versions {
			if p := (Pin{name, v}); !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out, nil
}

func notPinned(name string) error {
	return fmt.Errorf("no runtime %q is pinned, only %s", name, strings.Join(Kinds(), ", "))
}

// pinned returns the package of a runtime's version on this system; version ""
// is the default.
func pinned(name, version string) (Package, string, error) {
	l, err := lock()
	if err != nil {
		return Package{}, "", err
	}
	releases, ok := l[program(name)]
	if !ok {
		return Package{}, "", notPinned(name)
	}
	for _, r := range releases {
		if version != "" && r.Version != version {
			continue
		}
		p, ok := r.Platforms[runtime.GOOS+"/"+runtime.GOARCH]
		if !ok {
			return p, "", fmt.Errorf("%s %s is not pinned for %s/%s, only for %s", name, r.Version, runtime.GOOS, runtime.GOARCH,
				strings.Join(slices.Sorted(maps.Keys(r.Platforms)), ", "))
		}
		return p, r.Version, nil
	}
	return Package{}, "", fmt.Errorf("%s %s is not pinned, only %s", name, version, strings.Join(Versions(name), ", "))
}

// Dir is the folder of installed runtimes: that of the environment, else
// .runtimes beside the nearest go.mod, else in the working directory.
func Dir() (string, error) {
	if dir := os.Getenv(Env); dir != "" {
		return filepath.Abs(dir)
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".runtimes"), nil
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(wd, ".runtimes"), nil
		}
	}
}

// ErrNotInstalled says that a pinned runtime is not on this machine.
var ErrNotInstalled = errors.New("not installed")

// Locate says where a runtime lies once it is installed: one that is pinned, or
// that Ensure has installed. dir "" is Dir, version "" the default one.
func Locate(dir, name, version string) (Runtime, error) {
	var err error
	if dir == "" {
		if dir, err = Dir(); err != nil {
			return Runtime{}, err
		}
	}
	p, v, err := pinned(name, version)
	if other, ok := unpinned(dir, name, version); err != nil && ok {
		p, v, err = other, version, nil
	}
	if err != nil {
		return Runtime{}, err
	}
	rt := at(p, filepath.Join(dir, program(name), v))
	rt.Name, rt.Version = name, v
	return rt, nil
}

// Find returns an installed runtime, as Locate does.
func Find(dir, name, version string) (Runtime, error) {
	rt, err := Locate(dir, name, version)
	if err != nil {
		return Runtime{}, err
	}
	if info, err := os.Stat(rt.Binary); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return Runtime{}, fmt.Errorf("%s %s is %w: run `turnspec runtimes install %s@%s` (looked at %s; %s names another folder)",
			rt.Name, rt.Version, ErrNotInstalled, rt.Name, rt.Version, rt.Binary, Env)
	}
	return rt, nil
}

// at says where things lie in an install folder.
func at(p Package, root string) Runtime {
	pkg := filepath.Join(root, "node_modules", filepath.FromSlash(p.Name))
	rt := Runtime{Root: root, Binary: filepath.Join(pkg, filepath.FromSlash(p.Binary))}
	for _, dir := range p.Path {
		rt.Path = append(rt.Path, filepath.Join(pkg, filepath.FromSlash(dir)))
	}
	return rt
}
