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
	version := pythonVersion(r.Version)
	license, err := os.ReadFile(filepath.Join(r.Source, "LICENSE"))
	if err != nil {
		return err
	}
	info := "turnspec-" + version + ".dist-info/"
	var tags strings.Builder
	for platform := range strings.SplitSeq(t.Wheel, ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", platform)
	}
	files := []packed{
		{"turnspec-" + version + ".data/scripts/" + t.program(), binary, true},
		{info + "METADATA", fmt.Appendf(nil, `Metadata-Version: 2.1
Name: turnspec
Version: %s
Summary: A conformance test suite for adapters of Claude Code, Codex and other agent runtimes.
Project-URL: Documentation, https://github.com/turnspec/turnspec
License: MIT
Requires-Python: >=3.8
`, version), false},
		{info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: turnspec dist\nRoot-Is-Purelib: false\n" + tags.String()), false},
		{info + "LICENSE", license, false},
	}
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
	return r.write(fmt.Sprintf("turnspec-%s-py3-none-%s.whl", version, t.Wheel), b)
}

// pythonVersion returns a semantic version in the form of PEP 440.
func pythonVersion(v string) string {
	return strings.NewReplacer("-dev.", ".dev", "-rc.", "rc", "-beta.", "b", "-alpha.", "a").Replace(v)
}
