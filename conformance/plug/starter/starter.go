// Package starter offers the files that connect an adapter to the suite in a project of
// its own: a plug, a test that shows each case and each check, a file of known failures
// and a workflow. It is not part of the stable interface. `turnspec init` writes them.
package starter

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

//go:embed known-failures.txt workflow.yml go python rust typescript
var templates embed.FS

// Folder is where the files are, in the user's project.
const Folder = "conformance"

// Project is what is started.
type Project struct {
	Language string // one of Languages
	Runtime  string // that the adapter wraps
	Version  string // of turnspec, such as 1.2.3; "" means the latest
}

// File is a file to write.
type File struct {
	Name    string // relative to the project, with slashes
	Content string
}

// language is what a project in a language consists of.
type language struct {
	name    string
	files   map[string]string // name below Folder: template
	example []string          // files of the example for a runtime, in a folder with the runtime's name, if there is one
	setup   string            // steps of the workflow; in it and in next {{version}} stands for pin and version, such as @1.2.3
	next    []string          // commands to run after init
	pin     string            // how a version is pinned
}

var languages = []language{
	{
		name:    "typescript",
		files:   map[string]string{"plug.ts": "typescript/skeleton.ts", "conformance.test.ts": "typescript/conformance.test.ts"},
		example: []string{"plug.ts", "adapter.ts", "items.ts"},
		setup: `      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npm ci
      - run: npx vitest run conformance
`,
		next: []string{"npm install --save-dev turnspec{{version}} @turnspec/plug{{version}} vitest", "npx turnspec smoke --runtime {{runtime}} -- node conformance/plug.ts", "npx turnspec run --runtime {{runtime}} --subject 'node conformance/plug.ts' --case text/plain", "npx vitest run conformance  # all cases"},
		pin:  "@",
	},
	{
		name:    "python",
		files:   map[string]string{"plug.py": "python/skeleton.py", "test_conformance.py": "python/test_conformance.py"},
		example: []string{"plug.py", "adapter.py"},
		setup: `      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - run: pip install turnspec{{version}} turnspec-plug{{version}} pytest
      - run: pytest conformance
`,
		next: []string{"pip install turnspec{{version}} turnspec-plug{{version}} pytest", "turnspec smoke --runtime {{runtime}} -- python3 conformance/plug.py", "turnspec run --runtime {{runtime}} --subject 'python3 conformance/plug.py' --case text/plain", "pytest conformance  # all cases"},
		pin:  "==",
	},
	{
		name:  "go",
		files: map[string]string{"conformance_test.go": "go/conformance_test.go.txt"},
		setup: `      - uses: actions/setup-go@v5
        with:
          go-version-file: go.mod
      - run: go test ./conformance
`,
		next: []string{"go get github.com/turnspec/turnspec{{version}}", "go mod tidy", "go test ./conformance -run TestConformance/text/plain", "go test ./conformance  # all cases"},
		pin:  "@v",
	},
	{
		name: "rust",
		files: map[string]string{
			"Cargo.toml": "rust/Cargo.toml.txt", "main.rs": "rust/skeleton.rs", "protocol.rs": "rust/protocol.rs", "json.rs": "rust/json.rs", "checks.rs": "rust/checks.rs",
			".gitignore": "rust/gitignore.txt",
		},
		example: []string{"main.rs"},
		setup: `      - run: npm install --global turnspec{{version}}
      - run: cargo test --manifest-path conformance/Cargo.toml
`,
		next: []string{"npm install --global turnspec{{version}}", "turnspec smoke --runtime {{runtime}} -- cargo run -q --manifest-path conformance/Cargo.toml", "TURNSPEC_ARGS='--case text/plain' cargo test --manifest-path conformance/Cargo.toml", "cargo test --manifest-path conformance/Cargo.toml  # all cases"},
		pin:  "@",
	},
}

// Languages returns the names of the languages.
func Languages() (out []string) {
	for _, l := range languages {
		out = append(out, l.name)
	}
	return out
}

// Files returns the files of a project, and the commands to run after they are written.
func (p Project) Files() (files []File, next []string, err error) {
	i := slices.IndexFunc(languages, func(l language) bool { return l.name == p.Language })
	if i < 0 {
		return nil, nil, fmt.Errorf("unknown language %q; want one of %s", p.Language, strings.Join(Languages(), ", "))
	}
	l := languages[i]
	sources := map[string]string{"known-failures.txt": "known-failures.txt"}
	maps.Copy(sources, l.files)
	for _, name := range l.example {
		template := path.Join(l.name, p.Runtime, name)
		if _, err := fs.Stat(templates, template); err == nil {
			sources[name] = template
		}
	}
	fill := p.filler(l)
	for name, template := range sources {
		text, err := templates.ReadFile(template)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, File{path.Join(Folder, name), fill.Replace(string(text))})
	}
	workflow, err := templates.ReadFile("workflow.yml")
	if err != nil {
		return nil, nil, err
	}
	files = append(files, File{".github/workflows/conformance.yml", strings.Replace(string(workflow), "{{steps}}\n", fill.Replace(l.setup), 1)})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for _, command := range l.next {
		next = append(next, fill.Replace(command))
	}
	return files, next, nil
}

// filler replaces what depends on the project.
func (p Project) filler(l language) *strings.Replacer {
	version := ""
	switch {
	case p.Version != "":
		version = l.pin + p.Version
	case l.name == "go":
		version = "@latest"
	}
	return strings.NewReplacer("{{runtime}}", p.Runtime, "{{version}}", version)
}
