package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// condition rewrites a condition. A part that is no comparison is negated as a
// whole.
func (r *rewriter) condition(e ast.Expr) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		r.condition(x.X)
		return
	case *ast.BinaryExpr:
		r.node(x)
		return
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			r.node(x)
			return
		}
	}
	tv := r.info.Types[e]
	if tv.Value != nil || tv.Type == nil || !isBool(tv.Type) {
		r.node(e)
		return
	}
	id := r.mutant(e, "negate")
	r.around(e, fmt.Sprintf("%s.Not(%d, ", name, id), ")", func() { r.inner(e) })
}

// inner rewrites the children of an expression.
func (r *rewriter) inner(e ast.Expr) {
	first := true
	ast.Inspect(e, func(n ast.Node) bool {
		if first {
			first = false
			return true
		}
		if n != nil {
			r.node(n)
		}
		return false
	})
}

// incDec rewrites x++ and x--.
func (r *rewriter) incDec(s *ast.IncDecStmt) bool {
	if !r.addressable(s.X) || !isNumber(r.info.TypeOf(s.X)) {
		return true
	}
	id, f := r.mutant(s, "increment"), "Inc"
	if s.Tok == token.DEC {
		f = "Dec"
	}
	r.addEdit(r.offset(s.Pos()), 0, opens, "%s.%s(%d, &", name, f, id)
	r.node(s.X)
	r.addEdit(r.offset(s.TokPos), 2, replaces, ")")
	return false
}

// assign rewrites x += y and x -= y.
func (r *rewriter) assign(s *ast.AssignStmt) bool {
	f := map[token.Token]string{token.ADD_ASSIGN: "Grow", token.SUB_ASSIGN: "Shrink"}[s.Tok]
	if f == "" || !r.addressable(s.Lhs[0]) || !isNumber(r.info.TypeOf(s.Lhs[0])) {
		return true
	}
	id := r.mutant(s, "assignment")
	r.addEdit(r.offset(s.Pos()), 0, opens, "%s.%s(%d, &", name, f, id)
	r.node(s.Lhs[0])
	r.addEdit(r.offset(s.TokPos), 2, replaces, ",")
	r.node(s.Rhs[0])
	r.addEdit(r.offset(s.End()), 0, closes, ")")
	return false
}

func (r *rewriter) addressable(e ast.Expr) bool {
	tv, ok := r.info.Types[e]
	return ok && tv.Addressable()
}

// literal rewrites the members of a struct literal: each one is left out.
func (r *rewriter) literal(l *ast.CompositeLit) bool {
	t := r.info.TypeOf(l)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	_, isStruct := t.Underlying().(*types.Struct)
	for _, e := range l.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		switch {
		case keyed && isStruct:
			tv := r.info.Types[kv.Value]
			basic, isBasic := tv.Type.(*types.Basic)
			if tv.Value != nil || tv.IsNil() || isBasic && basic.Info()&types.IsUntyped != 0 {
				r.node(kv.Value)
				continue
			}
			id := r.mutant(kv, "member")
			r.around(kv.Value, fmt.Sprintf("%s.Zero(%d, ", name, id), ")", func() { r.node(kv.Value) })
		case keyed:
			r.node(kv.Key)
			r.node(kv.Value)
		default:
			r.node(e)
		}
	}
	return false
}

// expr rewrites an expression and reports whether its children have to be rewritten.
func (r *rewriter) expr(e ast.Expr) bool {
	tv, known := r.info.Types[e]
	if known && tv.IsType() {
		return false
	}
	switch x := e.(type) {
	case *ast.Ident:
		if known && tv.Value != nil && isBool(tv.Type) && (x.Name == "true" || x.Name == "false") {
			id := r.mutant(x, "bool")
			r.around(x, fmt.Sprintf("%s.Not(%d, ", name, id), ")", func() {})
		}
		return false
	case *ast.UnaryExpr:
		if x.Op == token.NOT && isBool(tv.Type) {
			id := r.mutant(x, "negate")
			r.around(x, fmt.Sprintf("%s.Not(%d, ", name, id), ")", func() { r.inner(x) })
			return false
		}
	case *ast.BinaryExpr:
		if tv.Value != nil {
			return false
		}
		return r.binary(x)
	}
	return !known || tv.Value == nil
}

func (r *rewriter) binary(x *ast.BinaryExpr) bool {
	left, right := r.info.TypeOf(x.X), r.info.TypeOf(x.Y)
	sides := func(before, between, after string) {
		r.addEdit(r.offset(x.Pos()), 0, opens, "%s", before)
		r.node(x.X)
		r.addEdit(r.offset(x.OpPos), len(x.Op.String()), replaces, "%s", between)
		r.node(x.Y)
		r.addEdit(r.offset(x.End()), 0, closes, "%s", after)
	}
	switch x.Op {
	case token.LAND, token.LOR:
		if !isBool(left) || !isBool(right) {
			return true
		}
		f := "And"
		if x.Op == token.LOR {
			f = "Or"
		}
		id := r.mutant(x, "logical")
		r.addEdit(r.offset(x.Pos()), 0, opens, "%s.%s(%d, ", name, f, id)
		r.condition(x.X)
		r.addEdit(r.offset(x.OpPos), 2, replaces, ", func() bool { return (")
		r.condition(x.Y)
		r.addEdit(r.offset(x.End()), 0, closes, ") })")
		return false
	case token.EQL, token.NEQ:
		id := r.mutant(x, "negate")
		r.around(x, fmt.Sprintf("%s.Not(%d, ", name, id), ")", func() { r.node(x.X); r.node(x.Y) })
		return false
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		f := "Less"
		if x.Op == token.LEQ || x.Op == token.GEQ {
			f = "LessEqual"
		}
		edge, not := r.mutant(x, "boundary"), r.mutant(x, "negate")
		if x.Op == token.GTR || x.Op == token.GEQ {
			f += "Swapped"
		}
		sides(fmt.Sprintf("%s.%s(%d, %d, ", name, f, edge, not), ",", ")")
		return false
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		if !isNumber(left) || !isNumber(right) {
			return true
		}
		f := map[token.Token]string{token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Quo", token.REM: "Rem"}[x.Op]
		id := r.mutant(x, "arithmetic")
		sides(fmt.Sprintf("%s.%s(%d, ", name, f, id), ",", ")")
		return false
	}
	return true
}
