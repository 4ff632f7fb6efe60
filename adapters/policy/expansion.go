package policy

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word judges what runs inside of a word.
func (j *judgement) word(n *Node, w *syntax.Word, st state) {
	if w != nil {
		for _, p := range w.Parts {
			j.wordPart(n, p, st)
		}
	}
}

func (j *judgement) wordPart(n *Node, part syntax.WordPart, st state) {
	switch p := part.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			j.wordPart(n, q, st)
		}
	case *syntax.ParamExp:
		j.param(n, p, st)
	case *syntax.CmdSubst:
		s := n.part(WhatSyntax, j.source(p))
		if p.TempFile || p.ReplyVar {
			s.deny("a substitution of another shell")
		}
		if len(p.Stmts) == 0 {
			s.allow("nothing is done")
		}
		j.stmts(s, p.Stmts, st.fresh())
	case *syntax.ArithmExp:
		j.arith(n, p.X, st)
	case *syntax.ProcSubst:
		s := n.part(WhatSyntax, j.source(p))
		if p.Op == syntax.CmdInTemp {
			s.deny("a substitution of another shell")
		}
		if len(p.Stmts) == 0 {
			s.allow("nothing is done")
		}
		in := st.fresh()
		in.piped = p.Op == syntax.CmdOut
		j.stmts(s, p.Stmts, in)
	case *syntax.BraceExp:
		for _, w := range p.Elems {
			j.word(n, w, st)
		}
	case *syntax.ExtGlob:
		n.part(WhatSyntax, j.source(p)).deny("an extended pattern, which some shells run as a command")
	default:
		n.part(WhatSyntax, j.source(p)).deny("an expansion that nobody knows")
	}
}

// param judges ${…}: some of its forms run what a variable holds.
func (j *judgement) param(n *Node, p *syntax.ParamExp, st state) {
	deny := func(why string) { n.part(WhatSyntax, j.source(p)).deny(why) }
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0 || p.Width || p.IsSet ||
		p.Split != syntax.OptUnset || p.GlobSubst != syntax.OptUnset || p.RcExpand != syntax.OptUnset {
		deny("an expansion of another shell")
		return
	}
	if p.Excl && p.Names == 0 && !isAt(p.Index) {
		deny("it reads the variable that another one names")
	}
	if p.Index != nil && !isAt(p.Index) {
		j.arith(n, p.Index, st)
	}
	if p.Slice != nil {
		j.arith(n, p.Slice.Offset, st)
		j.arith(n, p.Slice.Length, st)
	}
	if p.Repl != nil {
		j.word(n, p.Repl.Orig, st)
		j.word(n, p.Repl.With, st)
	}
	if e := p.Exp; e != nil {
		j.word(n, e.Word, st)
		switch e.Op {
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			j.name(n, name, false)
			j.tainted[name] = true
		case syntax.OtherParamOps:
			if op := e.Word.Lit(); len(op) != 1 || strings.Trim(op, "QULuEAKka") != "" {
				deny("it may run what the variable holds")
			}
		case syntax.MatchEmpty, syntax.ArrayExclude, syntax.ArrayIntersect:
			deny("an expansion of another shell")
		}
	}
}

// arith judges an arithmetic expression. A shell evaluates the values of the
// names in it as expressions, too, and a[$(…)] among them runs a command: so
// names are remembered, and other texts are denied.
func (j *judgement) arith(n *Node, x syntax.ArithmExpr, st state) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		j.arith(n, x.X, st)
		j.arith(n, x.Y, st)
	case *syntax.UnaryArithm:
		j.arith(n, x.X, st)
	case *syntax.ParenArithm:
		j.arith(n, x.X, st)
	case *syntax.Word:
		if x == nil {
			return
		}
		if !j.number(n, x.Parts, st) {
			n.part(WhatSyntax, j.source(x)).deny("arithmetic over what nobody knows, which may run a command")
		}
	default:
		n.part(WhatSyntax, j.source(x)).deny("arithmetic of another shell")
	}
}

// number reports whether the word is a number or a name in arithmetic.
func (j *judgement) number(n *Node, parts []syntax.WordPart, st state) bool {
	if len(parts) != 1 {
		return len(parts) == 0
	}
	switch p := parts[0].(type) {
	case *syntax.Lit:
		return j.counts(n, p.Value)
	case *syntax.DblQuoted:
		return j.number(n, p.Parts, st)
	case *syntax.ArithmExp:
		j.arith(n, p.X, st)
		return true
	case *syntax.ParamExp:
		j.param(n, p, st)
		if p.Param == nil || p.Excl || p.Slice != nil || p.Repl != nil || p.Exp != nil {
			return false
		}
		switch name := p.Param.Value; {
		case p.Length || name == "#" || name == "?" || name == "$" || name == "!":
			return true
		case syntax.ValidName(name):
			return j.counts(n, name)
		}
	default:
		j.wordPart(n, p, st)
	}
	return false
}

// counts notes a name that is used as a number. It reports false for what is
// neither.
func (j *judgement) counts(n *Node, s string) bool {
	if syntax.ValidName(s) {
		j.name(n, s, false)
		j.counted[s] = true
		return true
	}
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789abcdefABCDEFxX#@_ghijklmnopqrstuvwyzGHIJKLMNOPQRSTUVWYZ") == ""
}

// numbers denies names that stand in arithmetic and may hold more than numbers.
func (j *judgement) numbers(n *Node) {
	for _, name := range slices.Sorted(maps.Keys(j.counted)) {
		if j.tainted[name] {
			n.part(WhatVariable, name).deny("arithmetic over what nobody knows, which may run a command")
		}
	}
}

// assign judges an assignment. env: a command gets it as a variable of its
// environment.
func (j *judgement) assign(n *Node, a *syntax.Assign, st state, env bool) {
	v := n.part(WhatVariable, j.source(a))
	if a.Name == nil {
		v.deny("nobody knows which variable it sets")
		j.word(v, a.Value, st)
		return
	}
	name := a.Name.Value
	j.name(v, name, env)
	if a.Index != nil {
		j.arith(v, a.Index, st)
	}
	if a.Array != nil {
		j.tainted[name] = true
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				j.arith(v, e.Index, st)
			}
			j.word(v, e.Value, st)
		}
	}
	if a.Value != nil && !j.numeric(v, a.Value, st) {
		j.tainted[name] = true
	}
	v.allow("a variable of the shell")
}

// numeric judges a value and reports whether it is a number.
func (j *judgement) numeric(n *Node, w *syntax.Word, st state) bool {
	f := j.field(n, w, st)
	if f.known {
		return f.text == "" || isNumber(strings.TrimPrefix(f.text, "-"))
	}
	if len(w.Parts) == 1 {
		if _, ok := w.Parts[0].(*syntax.ArithmExp); ok {
			return true
		}
	}
	return false
}

// declare judges declare, local, export and their like.
func (j *judgement) declare(n *Node, c *syntax.DeclClause, st state) {
	env := c.Variant.Value == "export"
	if c.Variant.Value == "nameref" {
		n.deny("a name that stands for another")
	}
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			f := j.field(n, a.Value, st)
			if !f.known || strings.Trim(f.text, "-+aAgIlprtuxfF") != "" {
				n.deny("an option that makes names stand for others or values be evaluated, or one that nobody knows")
			}
			if env && strings.ContainsAny(f.text, "f") {
				n.deny("a function for other shells")
			}
			env = env || strings.HasPrefix(f.text, "-") && strings.Contains(f.text, "x")
			continue
		}
		j.assign(n, a, st, env)
	}
	n.allow("variables of the shell")
}

// test judges [[ ]].
func (j *judgement) test(n *Node, x syntax.TestExpr, st state) {
	n.allow("a test")
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			j.test(n, x.X, st)
			j.test(n, x.Y, st)
			return
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				w, ok := side.(*syntax.Word)
				if !ok || !j.number(n, w.Parts, st) && !negative(w) {
					n.deny("arithmetic over what nobody knows, which may run a command")
				}
			}
			return
		}
		j.test(n, x.X, st)
		j.test(n, x.Y, st)
	case *syntax.UnaryTest:
		if w, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			if f := j.field(n, w, st); !f.known || !syntax.ValidName(f.text) {
				n.deny("a subscript may run a command")
			}
			return
		}
		j.test(n, x.X, st)
	case *syntax.ParenTest:
		j.test(n, x.X, st)
	case *syntax.Word:
		j.word(n, x, st)
	default:
		n.deny("a test that nobody knows")
	}
}

func negative(w *syntax.Word) bool { return isNumber(strings.TrimPrefix(w.Lit(), "-")) }
