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
)

// where are the packages that are changed: those that a run of the suite plays.
var where = []string{
	"./adapters", "./adapters/claude", "./adapters/codex", "./adapters/event", "./adapters/replay",
	"./adapters/internal/ledger", "./adapters/internal/session",
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Module                  *struct{ Dir string }
}

// list asks the go command for the packages and all that they import.
func list() ([]listed, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Module"}, where...)...)
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	var out []listed
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		out = append(out, p)
	}
}

// rewriteAll writes the packages with all mutants in them to a folder, and the
// overlay by which the go command takes them for the module's own, and a checksum.
func rewriteAll(dir string) (mutants []Mutant, overlay, sum string, err error) {
	all, err := list()
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
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return mutants, overlay, fmt.Sprintf("%x", hash.Sum(nil)[:6]), os.WriteFile(overlay, b, 0o644)
}

func rewritePackage(fset *token.FileSet, from types.Importer, p listed, write func(file string, src []byte) error, mutants *[]Mutant) error {
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

// build makes a program, or the test program of a package, of the rewritten code.
func build(overlay, out string, args ...string) error {
	cmd := exec.Command("go", append([]string{args[0], "-buildvcs=false", "-overlay", overlay, "-o", out}, args[1:]...)...)
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, b)
	}
	return nil
}
