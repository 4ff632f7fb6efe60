package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The main package starts the program of the platform's package.
//
//go:embed npm/turnspec.js
var npmStarter []byte

const npmReadme = `# turnspec

A conformance test suite for adapters of Claude Code, Codex and other agent runtimes: it replays recordings of the real runtimes to your adapter, without a
key, a network or a token spent, and checks the events that your adapter emits.

` + "```" + `console
$ npx turnspec demo
$ npx turnspec smoke --runtime claude -- node my_adapter.ts
$ npx turnspec run --runtime claude --subject 'node my_adapter.ts'
` + "```" + `

[Documentation](https://github.com/turnspec/turnspec). The program itself is in the package of your platform, an optional dependency of this one.
`

// manifest is the package.json of an npm package.
type manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Repository   string            `json:"repository"`
	Bin          map[string]string `json:"bin,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
	PreferUnplug bool              `json:"preferUnplugged,omitempty"` // of Yarn: a program must lie in a file
}

func (r *release) manifest(name, description string) manifest {
	return manifest{Name: name, Version: r.Version, Description: description, License: "MIT", Repository: "github:turnspec/turnspec"}
}

// writePlatformPackage writes the npm package that holds the program of a platform.
func (r *release) writePlatformPackage(t target, binary []byte) error {
	m := r.manifest("@turnspec/"+t.Npm, "The program of the npm package turnspec, for "+t.Npm+".")
	system, cpu, _ := strings.Cut(t.Npm, "-")
	m.OS, m.CPU, m.PreferUnplug = []string{system}, []string{cpu}, true
	return r.writeNpm(m, packed{"bin/" + t.program(), binary, true})
}

// writeMainPackage writes the npm package turnspec. Of its optional dependencies npm
// installs the one for its platform.
func (r *release) writeMainPackage(targets []target) error {
	m := r.manifest("turnspec", "A conformance test suite for adapters of Claude Code, Codex and other agent runtimes.")
	m.Bin = map[string]string{"turnspec": "bin/turnspec.js"}
	m.Engines = map[string]string{"node": ">=18"}
	m.Optional = map[string]string{}
	for _, t := range targets {
		m.Optional["@turnspec/"+t.Npm] = r.Version
	}
	return r.writeNpm(m, packed{"bin/turnspec.js", npmStarter, true}, packed{"README.md", []byte(npmReadme), false})
}

// writeNpm writes a package as `npm pack` names and packs it.
func (r *release) writeNpm(m manifest, files ...packed) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return r.packNpm(m.Name, append(b, '\n'), files)
}

func (r *release) packNpm(name string, manifest []byte, files []packed) error {
	license, err := os.ReadFile(filepath.Join(r.Source, "LICENSE"))
	if err != nil {
		return err
	}
	all := []packed{{"package/package.json", manifest, false}, {"package/LICENSE", license, false}}
	for _, f := range files {
		f.Name = "package/" + f.Name
		all = append(all, f)
	}
	archive, err := tarGz(r.Time, all)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("%s-%s.tgz", strings.NewReplacer("@", "", "/", "-").Replace(name), r.Version), archive)
}

// writePlugPackage writes the npm package with which programs become subjects, at the
// version of the release.
func (r *release) writePlugPackage() error {
	const folder = "conformance/plug/typescript"
	names, err := filepath.Glob(filepath.Join(r.Source, folder, "*.*s"))
	if err != nil {
		return err
	}
	var files []packed
	for _, name := range append(names, filepath.Join(r.Source, folder, "README.md")) {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files = append(files, packed{Name: filepath.Base(name), Data: b})
	}
	b, err := os.ReadFile(filepath.Join(r.Source, folder, "package.json"))
	if err != nil {
		return err
	}
	const unset = `"version": "0.0.0"`
	if !bytes.Contains(b, []byte(unset)) {
		return fmt.Errorf("%s/package.json: want %s", folder, unset)
	}
	return r.packNpm("@turnspec/plug", bytes.Replace(b, []byte(unset), fmt.Appendf(nil, `"version": %q`, r.Version), 1), files)
}
