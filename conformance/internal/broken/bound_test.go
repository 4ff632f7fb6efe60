package broken_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/turnspec/turnspec/conformance/backend"
)

// bound is the maximum number of lines of a mutation: a developer would notice a
// defect that needs more.
const bound = 15

// TestBound demands that the mutation of each broken adapter is short.
func TestBound(t *testing.T) {
	files := token.NewFileSet()
	var sources []string
	for _, folder := range []string{"checks", "backend"} {
		found, err := filepath.Glob("../../" + folder + "/*/*_broken.go")
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, found...)
	}
	lines := map[string]int{}
	for _, name := range sources {
		f, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			name, m := mutationOf(n)
			if m != nil {
				lines[name] = body(files, m)
			}
			return true
		})
	}
	for _, a := range backend.Broken() {
		switch n := lines[a.Name]; {
		case n == 0:
			t.Errorf("%s: no mutation found in a file *_broken.go of a topic", a.Name)
		case n > bound:
			t.Errorf("%s: the mutation has %d lines, want at most %d", a.Name, n, bound)
		}
	}
}

// mutationOf returns the name and the mutation of a literal of an adapter.
func mutationOf(n ast.Node) (name string, mutation ast.Expr) {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return "", nil
	}
	for _, x := range lit.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, ok := kv.Key.(*ast.Ident)
		switch {
		case !ok:
		case key.Name == "Name":
			if s, ok := kv.Value.(*ast.BasicLit); ok {
				name = s.Value[1 : len(s.Value)-1]
			}
		case key.Name == "Mutation":
			mutation = kv.Value
		}
	}
	return name, mutation
}

// body counts the lines of the function bodies of a mutation, without the code around
// them, which only installs the mutation.
func body(files *token.FileSet, m ast.Expr) int {
	n := 0
	ast.Inspect(m, func(x ast.Node) bool {
		f, ok := x.(*ast.FuncLit)
		if !ok {
			return true
		}
		inner := files.Position(f.Body.Rbrace).Line - files.Position(f.Body.Lbrace).Line - 1
		n += max(inner, 1)
		return false // nested functions are counted already
	})
	return max(n, 1)
}
