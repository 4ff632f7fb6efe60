// Package runtimes finds and installs the real runtimes. It is not part of the stable
// interface.
//
// lock.json pins their versions: package, integrity and size. Install gets them
// from the npm registry, with the npm client, into a folder that is not committed.
// Find returns the path of the native binary. A runtime that is a script of Node is
// installed with the packages that it needs, which npm/NAME-VERSION.json pins, and with
// a Node of its own, so that a recording does not depend on the Node of the machine.
package runtimes

import (
	"cmp"
	"embed"
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

	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

//go:embed lock.json
var lockFile []byte

//go:embed npm
var npmLocks embed.FS

// Env is the variable that names the folder of installed runtimes.
const Env = "TURNSPEC_RUNTIMES"

// Release is one pinned version of a runtime.
type Release struct {
	Version   string             `json:"version"`
	Platforms map[string]Package `json:"platforms"` // by GOOS/GOARCH
}

// Package is the npm package that holds a runtime's program.
type Package struct {
	Name      string   `json:"name"`    // the folder below node_modules
	Package   string   `json:"package"` // its name in the registry
	Version   string   `json:"version"`
	Integrity string   `json:"integrity"`
	Unpacked  int64    `json:"unpacked"`       // bytes
	Binary    string   `json:"binary"`         // below the package's folder
	Path      []string `json:"path,omitempty"` // folders of programs that the runtime starts

	// Beside are packages that are installed with it, by their names, with their versions.
	Beside map[string]string `json:"beside,omitempty"`
	// Lock is the file in the folder npm that pins all packages; "": the package needs no
	// other.
	Lock string `json:"lock,omitempty"`
	// Uses are pinned runtimes whose programs it starts, by their names, with their
	// versions. They are installed with it, in folders of their own. A runtime without a
	// package is the program of the one that it uses, started in another way.
	Uses map[string]string `json:"uses,omitempty"`
}

// Runtime is an installed runtime.
type Runtime struct {
	Name, Version string
	Root          string    // the install folder; "" if there is nothing to install
	Binary        string    // the program
	Path          []string  // folders that precede PATH
	Uses          []Runtime // the runtimes whose programs it starts; Path has their folders
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

// Kinds returns the pinned runtimes, those that are another way to start a pinned program
// and those that need no program, sorted.
func Kinds() []string {
	kinds := Names()
	for _, r := range wires.All() {
		if r.BuiltIn != nil || slices.Contains(kinds, r.ProgramName()) && !slices.Contains(kinds, r.Name) {
			kinds = append(kinds, r.Name)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// programOf returns the program of a runtime, which lock.json has.
func programOf(name string) string {
	if r := wires.Find(name); r != nil {
		return r.ProgramName()
	}
	return name
}

// builtIn are the versions of a runtime that needs no program.
func builtIn(name string) []string {
	if r := wires.Find(name); r != nil {
		return r.BuiltIn
	}
	return nil
}

// Versions returns the pinned versions of a runtime, newest first. The newest is
// the default.
func Versions(name string) []string {
	if versions := builtIn(name); versions != nil {
		return slices.Clone(versions)
	}
	l, _ := lock()
	var out []string
	for _, r := range l[programOf(name)] {
		if w := wires.Find(name); w == nil || w.Unrecordable[r.Version] == "" {
			out = append(out, r.Version)
		}
	}
	return out
}

// Pin is a pinned version of a runtime.
type Pin struct{ Name, Version string }

func (p Pin) String() string { return p.Name + " " + p.Version }

// Choose returns the pinned versions for names: NAME@VERSION is one version, NAME is
// the newest one, or each if all is set. Without names it returns each runtime.
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

// pinnedPackage returns the package of a runtime's version on this system; version ""
// is the default.
func pinnedPackage(name, version string) (Package, string, error) {
	l, err := lock()
	if err != nil {
		return Package{}, "", err
	}
	releases, ok := l[programOf(name)]
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

// Dir returns the folder of installed runtimes: the value of Env, .runtimes in the
// folder of the nearest go.mod, or .runtimes in the working directory.
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

// ErrNotInstalled reports that a pinned runtime is not on this machine.
var ErrNotInstalled = errors.New("not installed")

// Locate returns where a runtime is, or would be, installed: a pinned version, or one
// that Ensure has installed. dir "" is Dir, version "" is the default version.
func Locate(dir, name, version string) (Runtime, error) {
	var err error
	if versions := builtIn(name); versions != nil {
		if version = cmp.Or(version, versions[0]); !slices.Contains(versions, version) {
			return Runtime{}, fmt.Errorf("%s has no version %s, only %s", name, version, strings.Join(versions, ", "))
		}
		return Runtime{Name: name, Version: version, Binary: programOf(name)}, nil
	}
	if dir == "" {
		if dir, err = Dir(); err != nil {
			return Runtime{}, err
		}
	}
	p, v, err := pinnedPackage(name, version)
	if other, ok := unpinnedPackage(dir, name, version); err != nil && ok {
		p, v, err = other, version, nil
	}
	if err != nil {
		return Runtime{}, err
	}
	rt := layout(p, filepath.Join(dir, programOf(name), v))
	rt.Name, rt.Version = name, v
	for _, used := range slices.Sorted(maps.Keys(p.Uses)) {
		u, err := Locate(dir, used, p.Uses[used])
		if err != nil {
			return Runtime{}, err
		}
		rt.Uses = append(rt.Uses, u)
		rt.Path = append(append(rt.Path, filepath.Dir(u.Binary)), u.Path...)
		if p.Package == "" {
			rt.Root, rt.Binary = u.Root, u.Binary
		}
	}
	return rt, nil
}

// Find is like Locate, but fails if the runtime is not installed.
func Find(dir, name, version string) (Runtime, error) {
	rt, err := Locate(dir, name, version)
	if err != nil || rt.Root == "" {
		return rt, err
	}
	for _, u := range rt.Uses {
		if _, err := Find(dir, u.Name, u.Version); err != nil {
			return Runtime{}, fmt.Errorf("%s %s needs %w", rt.Name, rt.Version, err)
		}
	}
	if info, err := os.Stat(rt.Binary); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return Runtime{}, fmt.Errorf("%s %s is %w: run `turnspec runtimes install %s@%s` (looked at %s; %s names another folder)",
			rt.Name, rt.Version, ErrNotInstalled, rt.Name, rt.Version, rt.Binary, Env)
	}
	return rt, nil
}

// layout returns the paths in the folder of an installed package.
func layout(p Package, root string) Runtime {
	pkg := filepath.Join(root, "node_modules", filepath.FromSlash(p.Name))
	rt := Runtime{Root: root, Binary: filepath.Join(pkg, filepath.FromSlash(p.Binary))}
	for _, dir := range p.Path {
		rt.Path = append(rt.Path, filepath.Join(pkg, filepath.FromSlash(dir)))
	}
	return rt
}
