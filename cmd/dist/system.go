package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	_ "embed"
)

// writeDeb writes the Debian package of a Linux target.
func (r *release) writeDeb(t target, nfpm string) error {
	config := fmt.Sprintf(`name: turnspec
arch: %s
platform: linux
version: %s
mtime: %s
section: devel
priority: optional
maintainer: Turnspec <turnspec@users.noreply.github.com>
description: conformance test suite for adapters of agent runtimes
homepage: https://github.com/turnspec/turnspec
license: MIT
contents:
  - src: %s
    dst: /usr/bin/turnspec
    file_info: {mode: 0755}
  - src: %s
    dst: /usr/share/doc/turnspec/copyright
    file_info: {mode: 0644}
`, t.Arch, r.Version, r.Time.Format("2006-01-02T15:04:05Z"), filepath.Join(r.Out, t.binary()), filepath.Join(r.Source, "LICENSE"))
	dir, err := os.MkdirTemp("", "nfpm-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "nfpm.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(nfpm, "package", "--config", file, "--packager", "deb", "--target", filepath.Join(r.Out, r.file(t, ".deb")))
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix()))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("nfpm: %w\n%s", err, out)
	}
	return nil
}

//go:embed turnspec.rb
var formula string

// writeFormula writes the Homebrew formula, with the checksums of the archives for
// macOS and Linux. It writes none if one of them was not built.
func (r *release) writeFormula(built []target) error {
	sums := map[string]string{}
	for _, t := range targets {
		if t.OS == "windows" {
			continue
		}
		if !slices.Contains(built, t) {
			return nil
		}
		sum, err := r.checksum(r.archiveName(t))
		if err != nil {
			return err
		}
		sums[t.OS+"_"+t.Arch] = sum
	}
	var b strings.Builder
	if err := template.Must(template.New("formula").Parse(formula)).Execute(&b, map[string]any{"Version": r.Version, "Sums": sums}); err != nil {
		return err
	}
	return r.write("turnspec.rb", []byte(b.String()))
}
