package policy

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgeWord judges the commands inside of a word.
func (j *judgement) judgeWord(n *Node, w *syntax.Word, st state) {
	if w != nil {
		for _, p := range w.Parts {
			j.judgeWordPart(n, p, st)
		}
	}
}

func (j *judgement) judgeWordPart(n *Node, part syntax.WordPart, st state) {
	switch p := part.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			j.judgeWordPart(n, q, st)
		}
	case *syntax.ParamExp:
		j.judgeParam(n, p, st)
	case *syntax.CmdSubst:
		s := n.addPart(WhatSyntax, j.source(p))
		if p.TempFile || p.ReplyVar {
			s.deny("a substitution of another shell")
		}
		if len(p.Stmts) == 0 {
			s.allow("nothing is done")
		}
		j.judgeStmts(s, p.Stmts, st.withOwnInput())
	case *syntax.ArithmExp:
		j.judgeArith(n, p.X, st)
	case *syntax.ProcSubst:
		s := n.addPart(WhatSyntax, j.source(p))
		if p.Op == syntax.CmdInTemp {
			s.deny("a substitution of another shell")
		}
		if len(p.Stmts) == 0 {
			s.allow("nothing is done")
		}
		in := st.withOwnInput()
		in.piped = p.Op == syntax.CmdOut
		j.judgeStmts(s, p.Stmts, in)
		j.delay(func() { j.judgeStmts(s, p.Stmts, in) })
	case *syntax.BraceExp:
		for _, w := range p.Elems {
			j.judgeWord(n, w, st)
		}
	case *syntax.ExtGlob:
		n.addPart(WhatSyntax, j.source(p)).deny("an extended pattern, which some shells run as a command")
	default:
		n.addPart(WhatSyntax, j.source(p)).deny("an unknown expansion")
	}
}

// judgeParam judges ${…}. Some of its forms run the value of a variable.
func (j *judgement) judgeParam(n *Node, p *syntax.ParamExp, st state) {
	deny := func(why string) { n.addPart(WhatSyntax, j.source(p)).deny(why) }
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
		deny("it reads a variable whose name another one holds")
	}
	if p.Index != nil && !isAt(p.Index) {
		j.judgeArith(n, p.Index, st)
	}
	if p.Slice != nil {
		j.judgeArith(n, p.Slice.Offset, st)
		j.judgeArith(n, p.Slice.Length, st)
	}
	if p.Repl != nil {
		j.judgeWord(n, p.Repl.Orig, st)
		j.judgeWord(n, p.Repl.With, st)
	}
	if e := p.Exp; e != nil {
		j.judgeWord(n, e.Word, st)
		switch e.Op {
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			j.judgeName(n, name, false)
			j.noteValue(n, name, false)
		case syntax.OtherParamOps:
			if op := e.Word.Lit(); len(op) != 1 || strings.Trim(op, "QULuEAKka") != "" {
				deny("it may run what the variable holds")
			}
		case syntax.MatchEmpty, syntax.ArrayExclude, syntax.ArrayIntersect:
			deny("an expansion of another shell")
		}
	}
}

// judgeArith judges an arithmetic expression. A shell evaluates the values of its names
// as expressions too, and a value such as a[$(…)] runs a command. So names are
// remembered for denyTaintedArith, and other texts are denied.
func (j *judgement) judgeArith(n *Node, x syntax.ArithmExpr, st state) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		if x.Op == syntax.Assgn {
			j.noteCounter(x.X)
		}
		j.judgeArith(n, x.X, st)
		j.judgeArith(n, x.Y, st)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			j.noteCounter(x.X)
		}
		j.judgeArith(n, x.X, st)
	case *syntax.ParenArithm:
		j.judgeArith(n, x.X, st)
	case *syntax.Word:
		if x == nil {
			return
		}
		if !j.judgeNumber(n, x.Parts, st) {
			n.addPart(WhatSyntax, j.source(x)).deny("arithmetic with an unknown value, which may run a command")
		}
	default:
		n.addPart(WhatSyntax, j.source(x)).deny("arithmetic of another shell")
	}
}

// noteCounter remembers that arithmetic assigns a number to a variable.
func (j *judgement) noteCounter(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
		j.numeric[w.Lit()] = true
	}
}

// judgeNumber reports whether a word of arithmetic is a number or a name.
func (j *judgement) judgeNumber(n *Node, parts []syntax.WordPart, st state) bool {
	if len(parts) != 1 {
		return len(parts) == 0
	}
	switch p := parts[0].(type) {
	case *syntax.Lit:
		return j.noteCounted(n, p.Value)
	case *syntax.DblQuoted:
		return j.judgeNumber(n, p.Parts, st)
	case *syntax.ArithmExp:
		j.judgeArith(n, p.X, st)
		return true
	case *syntax.ParamExp:
		j.judgeParam(n, p, st)
		if p.Param == nil || p.Excl || p.Slice != nil || p.Repl != nil || p.Exp != nil {
			return false
		}
		switch name := p.Param.Value; {
		case p.Length || name == "#" || name == "?" || name == "$" || name == "!":
			return true
		case syntax.ValidName(name):
			return j.noteCounted(n, name)
		}
	default:
		j.judgeWordPart(n, p, st)
	}
	return false
}

// noteCounted remembers a name that is used as a number. It returns false if the text
// is neither a name nor a number.
func (j *judgement) noteCounted(n *Node, s string) bool {
	if syntax.ValidName(s) {
		j.judgeName(n, s, false)
		j.counted[s] = true
		return !matchesAny(textVariables, s)
	}
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789abcdefABCDEFxX#@_ghijklmnopqrstuvwyzGHIJKLMNOPQRSTUVWYZ") == ""
}

// denyTaintedArith denies names in arithmetic whose values may be more than numbers: the
// name of another variable is enough. A name in capital letters that the command does not
// set may be in the environment.
func (j *judgement) denyTaintedArith(n *Node) {
	for _, name := range slices.Sorted(maps.Keys(j.counted)) {
		fromOutside := !j.numeric[name] && name == strings.ToUpper(name) && !matchesAny(numberVariables, name)
		if j.tainted[name] || fromOutside {
			n.addPart(WhatVariable, name).deny("arithmetic with an unknown value, which may run a command")
		}
	}
}

// judgeAssign judges an assignment. env reports whether it is in the environment of a
// command.
func (j *judgement) judgeAssign(n *Node, a *syntax.Assign, st state, env bool) {
	v := n.addPart(WhatVariable, j.source(a))
	if a.Name == nil {
		v.deny("it sets an unknown variable")
		j.judgeWord(v, a.Value, st)
		return
	}
	name := a.Name.Value
	j.judgeName(v, name, env)
	if a.Index != nil {
		j.judgeArith(v, a.Index, st)
	}
	if a.Array != nil {
		j.noteValue(v, name, false)
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				j.judgeArith(v, e.Index, st)
			}
			j.judgeWord(v, e.Value, st)
		}
	}
	if a.Value != nil {
		j.noteValue(v, name, j.judgeNumeric(v, a.Value, st))
	}
	v.allow("a variable of the shell")
}

// judgeNumeric judges a value and reports whether it is a number.
func (j *judgement) judgeNumeric(n *Node, w *syntax.Word, st state) bool {
	f := j.expandWord(n, w, st)
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

// judgeDeclare judges declare, local, export and similar builtins.
func (j *judgement) judgeDeclare(n *Node, c *syntax.DeclClause, st state) {
	env := c.Variant.Value == "export"
	if c.Variant.Value == "nameref" {
		n.deny("a name for another variable")
	}
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			f := j.expandWord(n, a.Value, st)
			if !f.known || strings.Trim(f.text, "-+aAgIlprtuxfF") != "" {
				n.deny("an option for name references or evaluated values, or an unknown one")
			}
			if env && strings.ContainsAny(f.text, "f") {
				n.deny("a function for other shells")
			}
			env = env || strings.HasPrefix(f.text, "-") && strings.Contains(f.text, "x")
			continue
		}
		j.judgeAssign(n, a, st, env)
	}
	n.allow("variables of the shell")
}

// judgeTestExpr judges [[ ]].
func (j *judgement) judgeTestExpr(n *Node, x syntax.TestExpr, st state) {
	n.allow("a test")
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			j.judgeTestExpr(n, x.X, st)
			j.judgeTestExpr(n, x.Y, st)
			return
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				w, ok := side.(*syntax.Word)
				if !ok || !j.judgeNumber(n, w.Parts, st) && !negative(w) {
					n.deny("arithmetic with an unknown value, which may run a command")
				}
			}
			return
		}
		j.judgeTestExpr(n, x.X, st)
		j.judgeTestExpr(n, x.Y, st)
	case *syntax.UnaryTest:
		if w, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			if f := j.expandWord(n, w, st); !f.known || !syntax.ValidName(f.text) {
				n.deny("a subscript may run a command")
			}
			return
		}
		j.judgeTestExpr(n, x.X, st)
	case *syntax.ParenTest:
		j.judgeTestExpr(n, x.X, st)
	case *syntax.Word:
		j.judgeWord(n, x, st)
	default:
		n.deny("an unknown test")
	}
}

func negative(w *syntax.Word) bool { return isNumber(strings.TrimPrefix(w.Lit(), "-")) }
