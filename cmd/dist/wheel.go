package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writeWheel writes the Python package of a platform: a zip archive with the program
// among its scripts, which pip installs into the folder of programs.
func (r *release) writeWheel(t target, binary []byte) error {
	return r.wheel("turnspec", "A conformance test suite for adapters of Claude Code, Codex and other agent runtimes.", "py3-none-"+t.Wheel,
		packed{"turnspec-" + pythonVersion(r.Version) + ".data/scripts/" + t.program(), binary, true})
}

// writePlugWheel writes the Python package with which programs become subjects.
func (r *release) writePlugWheel() error {
	const module = "turnspec_plug"
	folder := filepath.Join(r.Source, "conformance", "plug", "python", "src", module)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var files []packed
	for _, e := range entries {
		if e.IsDir() { // what Python compiled
			continue
		}
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		files = append(files, packed{Name: module + "/" + e.Name(), Data: b})
	}
	return r.wheel("turnspec-plug", "Makes an adapter of an agent runtime a subject of the conformance suite turnspec.", "py3-none-any", files...)
}

// wheel writes a Python package. tag names the platforms on which it can be installed.
func (r *release) wheel(name, summary, tag string, files ...packed) error {
	version := pythonVersion(r.Version)
	license, err := os.ReadFile(filepath.Join(r.Source, "LICENSE"))
	if err != nil {
		return err
	}
	base := strings.ReplaceAll(name, "-", "_") + "-" + version
	info := base + ".dist-info/"
	interpreter, platforms, _ := strings.Cut(tag, "-none-")
	var tags strings.Builder
	for platform := range strings.SplitSeq(platforms, ".") {
		fmt.Fprintf(&tags, "Tag: %s-none-%s\n", interpreter, platform)
	}
	files = append(files,
		packed{info + "METADATA", fmt.Appendf(nil, `Metadata-Version: 2.1
Name: %s
Version: %s
Summary: %s
Project-URL: Documentation, https://github.com/turnspec/turnspec
License: MIT
Requires-Python: >=3.8
`, name, version, summary), false},
		packed{info + "WHEEL", fmt.Appendf(nil, "Wheel-Version: 1.0\nGenerator: turnspec dist\nRoot-Is-Purelib: %t\n%s", platforms == "any", &tags), false},
		packed{info + "LICENSE", license, false},
	)
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.Data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.Data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	b, err := zipped(r.Time, append(files, packed{info + "RECORD", []byte(record.String()), false}))
	if err != nil {
		return err
	}
	return r.write(base+"-"+tag+".whl", b)
}

// pythonVersion returns a semantic version in the form of PEP 440.
func pythonVersion(v string) string {
	return strings.NewReplacer("-dev.", ".dev", "-rc.", "rc", "-beta.", "b", "-alpha.", "a").Replace(v)
}
