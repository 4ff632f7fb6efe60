package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// Mutant is one small change of the code.
type Mutant struct {
	ID       int
	Package  string // adapters/claude
	File     string // relative to the module
	Line     int
	Func     string
	Operator string
	Text     string // the code that it changes
}

// Key identifies a mutant even if lines around it move.
func (m Mutant) Key() string { return m.File + " " + m.Func + " " + m.Operator + ": " + m.Text }

// edit is a change of a file's text. At one offset, closing text comes before
// replacements, and these before opening text.
type edit struct {
	at, cut int
	rank    int
	text    string
}

const (
	closes = iota
	replaces
	opens
)

// switchPackage is the package whose switch the rewritten code asks.
const switchPackage = "github.com/turnspec/turnspec/conformance/lab/mutants/on"

// rewriter inserts the mutants into a file. It adds no lines, so that positions stay
// the same.
type rewriter struct {
	fset    *token.FileSet
	info    *types.Info
	pkg     *types.Package
	src     []byte
	file    string
	in      string // the current function
	tag     string // the tag of the current switch, if it can be evaluated twice
	edits   []edit
	mutants *[]Mutant
}

// name is the import name of package on in rewritten code.
const name = "mutants_on"

func (r *rewriter) offset(p token.Pos) int { return r.fset.Position(p).Offset }

func (r *rewriter) addEdit(at, cut, rank int, format string, args ...any) {
	r.edits = append(r.edits, edit{at, cut, rank, fmt.Sprintf(format, args...)})
}

// mutant adds a mutant and returns its number.
func (r *rewriter) mutant(n ast.Node, operator string) int {
	text := strings.Join(strings.Fields(string(r.src[r.offset(n.Pos()):r.offset(n.End())])), " ")
	if runes := []rune(text); len(runes) > 90 {
		text = string(runes[:90]) + "…"
	}
	m := Mutant{
		ID: len(*r.mutants) + 1, Package: filepath.Dir(r.file), File: r.file, Line: r.fset.Position(n.Pos()).Line,
		Func: r.in, Operator: operator, Text: text,
	}
	*r.mutants = append(*r.mutants, m)
	return m.ID
}

// rewrite inserts mutants into all functions and variables of a file.
func (r *rewriter) rewrite(f *ast.File) []byte {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			r.in = d.Name.Name
			if d.Recv != nil {
				r.in = strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*") + "." + r.in
			}
			r.function(d.Type, d.Body)
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				r.in = "var"
				r.node(d)
			}
		}
	}
	if len(r.edits) == 0 {
		return r.src
	}
	r.addEdit(r.offset(f.Name.End()), 0, closes, "; import %s %q", name, switchPackage)
	slices.SortStableFunc(r.edits, func(a, b edit) int { return cmp.Or(a.at-b.at, a.rank-b.rank) })
	var out []byte
	at := 0
	for _, e := range r.edits {
		out = append(append(out, r.src[at:e.at]...), e.text...)
		at = e.at + e.cut
	}
	out = append(out, r.src[at:]...)
	return append(out, "\nvar _ = "+name+".Keep\n"...)
}

// function rewrites a body. It adds a panic at the end if a mutant may make the end
// reachable without a return.
func (r *rewriter) function(t *ast.FuncType, body *ast.BlockStmt) {
	r.block(body.List, body.List)
	if t.Results != nil {
		r.addEdit(r.offset(body.Rbrace), 0, closes, "; panic(\"a mutant came to the end of a function\")")
	}
}

// around inserts text before and after a node, which done rewrites.
func (r *rewriter) around(n ast.Node, before, after string, inside func()) {
	r.addEdit(r.offset(n.Pos()), 0, opens, "%s", before)
	inside()
	r.addEdit(r.offset(n.End()), 0, closes, "%s", after)
}

// block rewrites statements. last means that it is the body of the function, in
// which a return at the end does nothing.
func (r *rewriter) block(list, last []ast.Stmt) {
	for i, s := range list {
		atEnd := last != nil && i == len(list)-1
		if r.removable(s) && (!atEnd || !returns(s)) {
			id := r.mutant(s, "statement")
			r.around(s, fmt.Sprintf("if %s.Keep(%d) { ", name, id), " }", func() { r.node(s) })
			continue
		}
		if b, ok := s.(*ast.BranchStmt); ok && b.Label == nil && (b.Tok == token.CONTINUE || b.Tok == token.BREAK) {
			id := r.mutant(s, "statement")
			r.around(s, fmt.Sprintf("if %s.Keep(%d) { ", name, id), " }", func() {})
			continue
		}
		r.node(s)
	}
}

func returns(s ast.Stmt) bool { _, ok := s.(*ast.ReturnStmt); return ok }

// removable reports whether the code compiles without a statement.
func (r *rewriter) removable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE && !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool {
			id, ok := e.(*ast.Ident)
			return ok && id.Name == "_" && len(s.Lhs) == 1 && !calls(s.Rhs[0])
		})
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		return true
	case *ast.ReturnStmt:
		return len(s.Results) == 0
	}
	return false
}

func calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool { _, ok := n.(*ast.CallExpr); found = found || ok; return true })
	return found
}

// node rewrites the children of a node by the rule of its kind.
func (r *rewriter) node(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.FuncLit:
			r.function(n.Type, n.Body)
			return false
		case *ast.BlockStmt:
			r.block(n.List, nil)
			return false
		case *ast.SwitchStmt:
			r.choice(n)
			return false
		case *ast.CaseClause:
			r.clause(n)
			return false
		case *ast.CommClause:
			if n.Comm != nil {
				r.node(n.Comm)
			}
			r.block(n.Body, nil)
			return false
		case *ast.IfStmt:
			if n.Init != nil {
				r.node(n.Init)
			}
			r.condition(n.Cond)
			r.node(n.Body)
			if n.Else != nil {
				r.node(n.Else)
			}
			return false
		case *ast.ForStmt:
			if n.Init != nil {
				r.node(n.Init)
			}
			if n.Cond != nil {
				r.condition(n.Cond)
			}
			if n.Post != nil {
				r.node(n.Post)
			}
			r.node(n.Body)
			return false
		case *ast.IncDecStmt:
			return r.incDec(n)
		case *ast.AssignStmt:
			return r.assign(n)
		case *ast.CompositeLit:
			return r.literal(n)
		case ast.Expr:
			return r.expr(n)
		}
		return true
	})
}

// choice rewrites a switch.
func (r *rewriter) choice(s *ast.SwitchStmt) {
	if s.Init != nil {
		r.node(s.Init)
	}
	if s.Tag != nil {
		r.node(s.Tag)
	}
	before := r.tag
	r.tag = ""
	if s.Tag != nil && r.still(s.Tag) {
		r.tag = string(r.src[r.offset(s.Tag.Pos()):r.offset(s.Tag.End())])
	}
	r.node(s.Body)
	r.tag = before
}

// still reports whether an expression has no side effect: it has only names, members
// and conversions.
func (r *rewriter) still(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.Ident, *ast.SelectorExpr, *ast.ParenExpr, *ast.StarExpr:
		case *ast.CallExpr:
			ok = ok && r.info.Types[n.Fun].IsType()
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// clause rewrites a case: one of its strings is replaced with one that never occurs.
// It matters if the switch compares with that string.
func (r *rewriter) clause(c *ast.CaseClause) {
	for _, e := range c.List {
		tv, known := r.info.Types[e]
		switch {
		case known && tv.Value != nil && isString(tv.Type):
			typ := r.typeName(tv.Type)
			if typ == "" {
				continue
			}
			matters := "true"
			if r.tag != "" {
				matters = r.tag + " == " + string(r.src[r.offset(e.Pos()):r.offset(e.End())])
			}
			id := r.mutant(e, "case")
			r.around(e, fmt.Sprintf("%s.Word[%s](%d, ", name, typ, id), ", "+matters+")", func() {})
		case known && tv.IsValue() && isBool(tv.Type) && tv.Value == nil:
			r.condition(e)
		case known && tv.IsValue():
			r.node(e)
		}
	}
	r.block(c.Body, nil)
}

// typeName returns how a type is written in this file, or "" if that is unknown.
func (r *rewriter) typeName(t types.Type) string {
	ok := true
	s := types.TypeString(t, func(p *types.Package) string {
		if p == r.pkg {
			return ""
		}
		if !strings.Contains(string(r.src), p.Name()+".") {
			ok = false
		}
		return p.Name()
	})
	if !ok {
		return ""
	}
	return s
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isBool(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0
}
