package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// notMutated are packages below adapters that do not make events. Their own tests
// check them.
var notMutated = []string{"component", "policy", "proc", "scan", "fastjson", "post", "loopcall"}

// mutatedPackages returns the packages that are changed: those below adapters that
// the player imports, except for notMutated.
func mutatedPackages() ([]string, error) {
	b, err := exec.Command("go", "list", "-deps", "./conformance/lab/mutants/player").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var out []string
	for path := range strings.Lines(string(b)) {
		path = strings.TrimSpace(path)
		if _, rest, ok := strings.Cut(path+"/", "/turnspec/adapters/"); ok && !slices.Contains(notMutated, filepath.Base(path)) {
			out = append(out, "./adapters/"+rest)
		}
	}
	return out, nil
}

// goPackage is a package as `go list` prints it.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Module                  *struct{ Dir string }
}

// listPackages returns the packages and all their imports.
func listPackages() ([]goPackage, error) {
	packages, err := mutatedPackages()
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Module"}, packages...)...)
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	var out []goPackage
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var p goPackage
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		out = append(out, p)
	}
}

// rewriteAll writes the packages with all mutants to a folder. It returns the
// overlay that makes the go command use them, and a checksum.
func rewriteAll(dir string) (mutants []Mutant, overlay, sum string, err error) {
	all, err := listPackages()
	if err != nil {
		return nil, "", "", err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	replace := map[string]string{}
	hash := sha256.New()
	for _, p := range all {
		if p.DepOnly {
			continue
		}
		if err := rewritePackage(fset, from, p, func(file string, src []byte) error {
			to := filepath.Join(dir, fmt.Sprintf("%03d-%s", len(replace), filepath.Base(file)))
			replace[file] = to
			_, _ = hash.Write(src) // it never fails
			return os.WriteFile(to, src, 0o644)
		}, &mutants); err != nil {
			return nil, "", "", err
		}
	}
	overlay, err = writeOverlay(dir, replace)
	return mutants, overlay, fmt.Sprintf("%x", hash.Sum(nil)[:6]), err
}

// writeOverlay writes a file that makes the go command take other files in place of those of the tree.
func writeOverlay(dir string, replace map[string]string) (string, error) {
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, b, 0o644)
}

func rewritePackage(fset *token.FileSet, from types.Importer, p goPackage, write func(file string, src []byte) error, mutants *[]Mutant) error {
	var files []*ast.File
	var names []string
	var sources [][]byte
	for _, base := range p.GoFiles {
		file := filepath.Join(p.Dir, base)
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files, names, sources = append(files, f), append(names, file), append(sources, src)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: from}
	pkg, err := conf.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return err
	}
	for i, f := range files {
		rel, err := filepath.Rel(p.Module.Dir, names[i])
		if err != nil {
			return err
		}
		r := &rewriter{fset: fset, info: info, pkg: pkg, src: sources[i], file: filepath.ToSlash(rel), mutants: mutants}
		if err := write(names[i], r.rewrite(f)); err != nil {
			return err
		}
	}
	return nil
}

// goBuild builds a program, or the test program of a package, from the rewritten code.
func goBuild(overlay, out string, args ...string) error {
	cmd := exec.Command("go", append([]string{args[0], "-buildvcs=false", "-overlay", overlay, "-o", out}, args[1:]...)...)
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, b)
	}
	return nil
}
