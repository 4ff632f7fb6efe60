package policy

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgeWord judges the commands inside of a word.
func (j *judgement) judgeWord(n *Node, w *syntax.Word, st state) {
	if w == nil {
		return
	}
	if text := unquoted(w); hiddenCode.MatchString(text) {
		n.addPart(WhatSyntax, text).deny(unlisted(`a process substitution in "${…}" or a pattern, or a range such as {Z..a},`, "words without them"))
	}
	if w.Lit() == "}" {
		n.addPart(WhatSyntax, "}").deny("zsh ends a block at a } that is a word; write quotes around it")
	}
	j.judgeParts(n, w.Parts, st)
}

// hiddenCode matches a process substitution that the parser takes for text, but shells run, and a
// range of letters with a backslash and a backquote, which bash reads again.
var hiddenCode = regexp.MustCompile(`[<>=]\(|\{([A-Z]\.\.[a-z]|[a-z]\.\.[A-Z])`)

var (
	zshExpansion = regexp.MustCompile(`(^|[^\\])\$[=~^+]+[\w{(@*]`)
	zshSubscript = regexp.MustCompile(`^(\w+|.)\[|^#\w`)
)

// judgeParts judges the parts of a word or of double quotes. zsh expands some of them that are
// text for bash.
func (j *judgement) judgeParts(n *Node, parts []syntax.WordPart, st state) {
	text := "" // right before
	var variable *syntax.ParamExp
	for _, p := range parts {
		lit, _ := p.(*syntax.Lit)
		if lit == nil {
			text = ""
			variable, _ = p.(*syntax.ParamExp)
			j.judgeWordPart(n, p, st)
			continue
		}
		text += lit.Value
		if variable != nil && variable.Short && zshSubscript.MatchString(variable.Param.Value+text) {
			n.addPart(WhatSyntax, text).deny("zsh evaluates the brackets behind the variable; write it in braces")
		}
		if zshExpansion.MatchString(text) {
			n.addPart(WhatSyntax, text).deny("zsh splits the value of the variable behind $=, and expands it behind $~; write a backslash before the $")
		}
	}
}

func (j *judgement) judgeWordPart(n *Node, part syntax.WordPart, st state) {
	switch p := part.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
	case *syntax.DblQuoted:
		j.denySingleQuotes(n, p)
		j.judgeParts(n, p.Parts, st)
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
		j.judgeStmts(s, p.Stmts, st)
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
		j.judgeStmts(s, p.Stmts, st)
		j.noteBackground()
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

// denySingleQuotes denies single quotes in ${…} of double quotes or of a here-document. The
// parser reads them as quotes, but in ${x:-…} they are text, and commands in them run.
func (j *judgement) denySingleQuotes(n *Node, x syntax.Node) {
	syntax.Walk(x, func(x syntax.Node) bool {
		if _, ok := x.(*syntax.SglQuoted); ok {
			n.addPart(WhatSyntax, j.source(x)).deny(unlisted(`a single quote in "${…}"`, `"${…}" without it`))
		}
		_, command := x.(*syntax.CmdSubst)
		return !command
	})
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
	if p.Excl && (p.Names == 0 && !isAt(p.Index) || p.Exp != nil || p.Repl != nil || p.Slice != nil) {
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
// as expressions too, and a value such as a[$(…)] runs a command. So only numbers are on
// the list, and what is always one.
func (j *judgement) judgeArith(n *Node, x syntax.ArithmExpr, st state) {
	switch x := x.(type) {
	case nil:
		return
	case *syntax.BinaryArithm:
		j.judgeArith(n, x.X, st)
		j.judgeArith(n, x.Y, st)
		return
	case *syntax.UnaryArithm:
		j.judgeArith(n, x.X, st)
		return
	case *syntax.ParenArithm:
		j.judgeArith(n, x.X, st)
		return
	case *syntax.Word:
		if x == nil || j.judgeNumber(n, x.Parts, st) {
			return
		}
	}
	j.setUnknown(n.addPart(WhatSyntax, j.source(x)), unlisted("arithmetic with names or texts", "the numbers themselves, or compare with [ ]"))
}

// judgeArithmetic judges (( )) or let.
func (j *judgement) judgeArithmetic(n *Node, c syntax.Node, st state, xs ...syntax.ArithmExpr) {
	p := n.addPart(WhatSyntax, j.source(c))
	for _, x := range xs {
		j.judgeArith(p, x, st)
	}
	p.allow("arithmetic with numbers")
}

// judgeNumber reports whether a word is surely a number, and judges what it contains.
func (j *judgement) judgeNumber(n *Node, parts []syntax.WordPart, st state) bool {
	if len(parts) != 1 {
		for _, p := range parts {
			j.judgeWordPart(n, p, st)
		}
		return false
	}
	switch p := parts[0].(type) {
	case *syntax.Lit:
		return isNumber(strings.TrimPrefix(p.Value, "-"))
	case *syntax.DblQuoted:
		return j.judgeNumber(n, p.Parts, st)
	case *syntax.ArithmExp:
		j.judgeArith(n, p.X, st)
		return true
	case *syntax.ParamExp:
		j.judgeParam(n, p, st)
		if p.Param == nil || p.Excl || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Index != nil && !isAt(p.Index) {
			return false
		}
		return p.Length || slices.Contains([]string{"#", "?", "$"}, p.Param.Value)
	default:
		j.judgeWordPart(n, p, st)
	}
	return false
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
	if name != "GOFLAGS" || !j.plainGoFlags(a.Value, st) {
		j.judgeName(v, name, env)
	}
	if a.Index != nil {
		j.judgeArith(v, a.Index, st)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				j.judgeArith(v, e.Index, st)
			}
			j.judgeWord(v, e.Value, st)
		}
	}
	if a.Value != nil {
		j.judgeExported(v, name, j.expandWord(v, a.Value, st), env)
	}
	v.allow("a variable of the shell")
}

// plainGoFlags reports whether the value of GOFLAGS has only options of go test that neither
// write nor run another program.
func (j *judgement) plainGoFlags(w *syntax.Word, st state) bool {
	if w == nil {
		return false
	}
	var words []field
	f, _ := j.expandValue(w, st)
	for s := range strings.FieldsSeq(f.text) {
		words = append(words, literalField(s))
	}
	got := programs["go test"].options.parse(words)
	return f.known && len(got.operands) == 0 && !slices.ContainsFunc(got.options, func(o option) bool {
		return o.kind != 0 && o.kind != ':' || strings.HasSuffix(o.name, "flags")
	})
}

// judgeDeclare judges declare, local, export and similar builtins. Only export of plain
// assignments is on the list.
func (j *judgement) judgeDeclare(n *Node, c *syntax.DeclClause, st state) {
	export := c.Variant.Value == "export"
	if !export {
		j.setUnknown(n, unlisted(c.Variant.Value, "an assignment without it"))
	}
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			j.setUnknown(n, unlisted("an option of "+c.Variant.Value, "export NAME=value"))
			j.judgeWord(n, a.Value, st)
			continue
		}
		j.judgeAssign(n, a, st, export)
	}
	n.allow("variables of the shell")
}

// Operators of [[ ]] and test that evaluate nothing.
var (
	unaryTests  = listedNames("tests")
	binaryTests = listedNames("tests of two words")
	numberTests = listedNames("tests of numbers")
)

// judgeTestExpr judges [[ ]].
func (j *judgement) judgeTestExpr(n *Node, x syntax.TestExpr, st state) {
	n.allow("a test")
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch op := x.Op.String(); {
		case x.Op == syntax.AndTest || x.Op == syntax.OrTest || slices.Contains(binaryTests, op):
		case slices.Contains(numberTests, op):
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				w, ok := side.(*syntax.Word)
				if !ok || !j.judgeNumber(n, w.Parts, st) {
					j.setUnknown(n, unlisted("a comparison of numbers in [[ ]] with names or texts", "[ ], which evaluates nothing"))
				}
			}
			return
		default:
			j.setUnknown(n, unlisted("the test "+op, "another one"))
		}
		j.judgeTestExpr(n, x.X, st)
		j.judgeTestExpr(n, x.Y, st)
	case *syntax.UnaryTest:
		if op := x.Op.String(); op != "!" && !slices.Contains(unaryTests, op) {
			j.setUnknown(n, unlisted("the test "+op, "[ -n \"$NAME\" ]"))
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
