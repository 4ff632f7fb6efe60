package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// stableFile holds the exported names of the stable packages, and those alone. A package is
// stable if the file has it.
const stableFile = "../docs/stable.txt"

// notStable is the sentence by which an importable package says that it may change.
const notStable = "It is not part of the stable interface."

// maxStable is how many packages the stable interface may have: people must find their way.
const maxStable = 31

// TestStableNames compares the exported names of the stable packages with the file that
// lists them.
func TestStableNames(t *testing.T) {
	stored, err := os.ReadFile(stableFile)
	if err != nil {
		t.Fatal(err)
	}
	stable := stablePackages(string(stored))
	if len(stable) < 25 || len(stable) > maxStable {
		t.Errorf("%d packages are stable, at most %d may be", len(stable), maxStable)
	}
	var b strings.Builder
	for _, p := range packages(t) {
		if name := strings.TrimPrefix(p.ImportPath, module); slices.Contains(stable, name) {
			fmt.Fprintf(&b, "%s\n", name)
			for _, line := range exported(parsed(t, p)) {
				fmt.Fprintf(&b, "\t%s\n", line)
			}
		}
	}
	if *update {
		if err := os.WriteFile(stableFile, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, got := string(stored), b.String(); want != got {
		t.Errorf("the stable interface changed. If that is intended, write it with `go test ./cmd/turnspec -run TestStableNames -update` and say in the commit whom it breaks:\n%s", difference(want, got))
	}
}

// TestEachPackageIsStableOrSaysThatItIsNot demands of each package that the file has it, that
// it is internal, or that its comment says that it is not stable, in the second sentence.
func TestEachPackageIsStableOrSaysThatItIsNot(t *testing.T) {
	stored, err := os.ReadFile(stableFile)
	if err != nil {
		t.Fatal(err)
	}
	stable := stablePackages(string(stored))
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if p.Name == "main" || len(p.GoFiles) == 0 {
			continue
		}
		comment := strings.Join(strings.Fields(parsed(t, p).Doc), " ")
		first := new(doc.Package).Synopsis(comment)
		says := strings.HasPrefix(strings.TrimPrefix(comment, first), " "+notStable)
		hidden := slices.Contains(strings.Split(name, "/"), "internal")
		switch {
		case slices.Contains(stable, name):
			if hidden || strings.Contains(comment, notStable) {
				t.Errorf("%s is stable by %s, and is internal or says that it is not", name, stableFile)
			}
		case !hidden && !says:
			t.Errorf("%s: move it below internal, or let the second sentence of its package comment be %q", name, notStable)
		}
	}
}

// notYetStable are the packages whose types stand in the stable interface only because what
// the harness saw of a run, and the adapters that prove a check, still do.
var notYetStable = []string{"fakes/fault", "fakes/standin", "conformance/internal/broken"}

// TestStableNamesNeedStablePackagesOnly demands that who uses the stable interface can name
// each type in it.
func TestStableNamesNeedStablePackagesOnly(t *testing.T) {
	stored, err := os.ReadFile(stableFile)
	if err != nil {
		t.Fatal(err)
	}
	stable := stablePackages(string(stored))
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if !slices.Contains(stable, name) {
			continue
		}
		for _, m := range foreign(t, p, stable) {
			t.Errorf("%s: %s", name, m)
		}
	}
}

// stablePackages returns the packages that the file of the stable interface has.
func stablePackages(file string) []string {
	var out []string
	for line := range strings.Lines(file) {
		if !strings.HasPrefix(line, "\t") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// parsed returns the documentation of a package, without what its tests declare.
func parsed(t *testing.T, p pkg) *doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(fset, files, p.ImportPath)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// exported lists the exported names of a package, each with its kind: constants, variables,
// functions, types, and below each type its fields and methods.
func exported(d *doc.Package) []string {
	var out []string
	values := func(kind string, all []*doc.Value) {
		for _, v := range all {
			for _, name := range v.Names {
				if token.IsExported(name) {
					out = append(out, kind+" "+name)
				}
			}
		}
	}
	funcs := func(all []*doc.Func) {
		for _, f := range all {
			out = append(out, "func "+f.Name)
		}
	}
	values("const", d.Consts)
	values("var", d.Vars)
	funcs(d.Funcs)
	for _, t := range d.Types {
		values("const", t.Consts)
		values("var", t.Vars)
		funcs(t.Funcs)
		out = append(out, "type "+t.Name)
		for _, spec := range t.Decl.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok && s.Name.Name == t.Name {
				out = append(out, members(t.Name, s.Type)...)
			}
		}
		for _, m := range t.Methods {
			out = append(out, "method "+t.Name+"."+m.Name)
		}
	}
	slices.Sort(out)
	return out
}

// members lists the exported fields of a struct and the methods of an interface.
func members(name string, typ ast.Expr) []string {
	var kind string
	var fields *ast.FieldList
	switch x := typ.(type) {
	case *ast.StructType:
		kind, fields = "field", x.Fields
	case *ast.InterfaceType:
		kind, fields = "method", x.Methods
	default:
		return nil
	}
	var out []string
	for _, f := range fields.List {
		for _, n := range f.Names {
			if n.IsExported() {
				out = append(out, kind+" "+name+"."+n.Name)
			}
		}
	}
	return out
}

// foreign lists the exported declarations of a package that name a package of the module
// that is not stable.
func foreign(t *testing.T, p pkg, stable []string) []string {
	t.Helper()
	var out []string
	for _, file := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		unstable := map[string]string{} // by the name in the file
		for _, i := range f.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			rel, ours := strings.CutPrefix(to, module)
			if !ours || slices.Contains(stable, rel) || slices.Contains(notYetStable, rel) {
				continue
			}
			name := path.Base(to)
			if i.Name != nil {
				name = i.Name.Name
			}
			unstable[name] = rel
		}
		ast.FileExports(f)
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				if fn.Recv != nil && !token.IsExported(receiver(fn)) {
					continue
				}
				fn.Body = nil
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok && s.Assign.IsValid() {
					return false // an alias gives the type a name in the stable interface
				}
				if s, ok := n.(*ast.ValueSpec); ok { // of a variable its type alone is part of the interface
					s.Values = nil
				}
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && unstable[x.Name] != "" {
					out = append(out, fmt.Sprintf("%s names %s of %s, which is not stable", file, s.Sel.Name, unstable[x.Name]))
				}
				return true
			})
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// receiver returns the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	name, _ := typ.(*ast.Ident)
	return name.Name
}

// difference lists the lines that only one of two texts has.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out []string
	for _, l := range w {
		if !slices.Contains(g, l) {
			out = append(out, "-"+l)
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			out = append(out, "+"+l)
		}
	}
	return strings.Join(out, "\n")
}
