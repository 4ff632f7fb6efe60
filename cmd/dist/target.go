package main

import (
	"fmt"
	"slices"
	"strings"
)

// target is a platform, with its names in the package systems.
type target struct {
	OS, Arch string // as Go names them
	Npm      string // process.platform-process.arch of Node
	Wheel    string // platform tag of Python
}

// targets lists all platforms. The programs are linked statically, so that those for
// Linux run with any C library, or none.
var targets = []target{
	{"linux", "amd64", "linux-x64", "manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "linux-arm64", "manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "darwin-x64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "darwin-arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win32-x64", "win_amd64"},
	{"windows", "arm64", "win32-arm64", "win_arm64"},
}

func (t target) String() string { return t.OS + "/" + t.Arch }

// program is the name of the program's file.
func (t target) program() string {
	if t.OS == "windows" {
		return "turnspec.exe"
	}
	return "turnspec"
}

// binary is the compiled program's path in the release.
func (t target) binary() string { return "bin/" + t.OS + "_" + t.Arch + "/" + t.program() }

// file returns the name of a file of the release that is of this platform alone.
func (r *release) file(t target, ext string) string {
	return fmt.Sprintf("turnspec_%s_%s_%s%s", r.Version, t.OS, t.Arch, ext)
}

// chooseTargets returns the targets in a comma-separated list; all if it is empty.
func chooseTargets(names string) ([]target, error) {
	if names == "" {
		return targets, nil
	}
	var out []target
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown target %q; the targets are %v", name, targets)
		}
		out = append(out, targets[i])
	}
	return out, nil
}
