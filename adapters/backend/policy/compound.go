package policy

import "mvdan.cc/sh/v3/syntax"

func (j *judgement) judgeBinary(n *Node, c *syntax.BinaryCmd, st state) flow {
	switch c.Op {
	case syntax.AndStmt:
		x := j.judgeStmt(n, c.X, st)
		y := j.judgeStmt(n, c.Y, x.yes)
		return flow{y.yes, withFuncsOf(mergeStates(x.no, y.no), x.either())}
	case syntax.OrStmt:
		x := j.judgeStmt(n, c.X, st)
		y := j.judgeStmt(n, c.Y, x.no)
		return flow{withFuncsOf(mergeStates(x.yes, y.yes), x.either()), y.no}
	case syntax.Pipe, syntax.PipeAll:
		j.judgeStmt(n, c.X, st)
		in, links := st.withOwnInput(), len(j.newLinks)
		in.piped = true
		y := j.judgeStmt(n, c.Y, in)
		if len(j.newLinks) > links { // both run at the same time
			j.judgeStmt(n, c.X, st)
		}
		// With lastpipe, the shell itself runs the last command.
		out := withFuncsOf(mergeStates(y.either(), st), st)
		out.input, out.piped = st.input, st.piped
		return sameFlow(out)
	}
	n.addPart(WhatSyntax, j.source(c)).deny("an unknown operator")
	return sameFlow(state{})
}

func (j *judgement) judgeIf(n *Node, c *syntax.IfClause, st state) state {
	if len(c.Cond) == 0 { // else
		return withFuncsOf(j.judgeStmts(n, c.Then, st).either(), st)
	}
	cond := j.judgeStmts(n, c.Cond, st)
	out := j.judgeStmts(n, c.Then, cond.yes).either()
	if c.Else != nil {
		out = mergeStates(out, j.judgeIf(n, c.Else, cond.no))
	} else {
		out = mergeStates(out, cond.no)
	}
	return withFuncsOf(out, st)
}

// judgeLoop judges a body that may run again. If the body changes the folder, it is
// judged again with an unknown folder.
func (j *judgement) judgeLoop(n *Node, st state, body func(*Node, state) state) state {
	l, links := n.addPart(WhatSyntax, "loop"), len(j.newLinks)
	out := withFuncsOf(mergeStates(st, body(l, st)), st)
	if len(j.newLinks) > links {
		body(l, st)
	}
	if sameState(out, st) {
		return st
	}
	l.Parts = nil
	lost := st
	lost.dirs = nil
	return withFuncsOf(body(l, lost), st).inUnknownDir()
}

func (j *judgement) judgeFor(n *Node, c *syntax.ForClause, st state) state {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		p := n.addPart(WhatVariable, j.source(l))
		j.judgeName(p, l.Name.Value, false)
		for _, f := range j.expandWords(p, l.Items, st) {
			j.noteValue(p, l.Name.Value, f.known && isNumber(f.text))
		}
		if !l.InPos.IsValid() {
			j.noteValue(p, l.Name.Value, false) // the arguments
		}
		p.allow("a variable of the shell")
	case *syntax.CStyleLoop:
		p := n.addPart(WhatSyntax, "for (( ))")
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			if x != nil {
				j.judgeArith(p, x, st)
			}
		}
		p.allow("arithmetic")
	default:
		n.addPart(WhatSyntax, j.source(c)).deny("an unknown loop")
	}
	if c.Select {
		n.addPart(WhatSyntax, "select").deny("it asks on a terminal")
	}
	return j.judgeLoop(n, st, func(n *Node, s state) state { return j.judgeStmts(n, c.Do, s).either() })
}

func (j *judgement) judgeCase(n *Node, c *syntax.CaseClause, st state) state {
	p := n.addPart(WhatSyntax, "case "+j.source(c.Word))
	j.judgeWord(p, c.Word, st)
	p.allow("a choice")
	out := st
	for _, it := range c.Items {
		for _, w := range it.Patterns {
			j.judgeWord(p, w, st)
		}
		// With ;& an item continues after the previous one.
		out = mergeStates(out, j.judgeStmts(p, it.Stmts, out).either())
	}
	return withFuncsOf(out, st)
}

// body is the body of a function or trap, to be judged once more.
type body struct{ again func(*Node) }

// delayed is a part that may run later than the parts after it. If they make symlinks, it
// is judged once more.
type delayed struct {
	links int // that were made before
	again func()
}

// delay remembers a part that runs in the background.
func (j *judgement) delay(again func()) {
	text, lang := j.text, j.lang
	j.delayed = append(j.delayed, delayed{len(j.newLinks), func() {
		j.text, j.lang = text, lang
		again()
	}})
}

// laterState returns the state in which a body may run again: in any folder, if the
// command changes it.
func (j *judgement) laterState(st state) state {
	if j.moved {
		return st.inUnknownDir()
	}
	return st
}

// judgeFunction judges the body at its declaration. Its name must not be that of a
// program, because then a call would be ambiguous.
func (j *judgement) judgeFunction(n *Node, c *syntax.FuncDecl, st state) state {
	if c.Name == nil || len(c.Names) > 0 {
		n.addPart(WhatSyntax, j.source(c)).deny("a function of another shell")
		return state{}
	}
	name := c.Name.Value
	f := n.addPart(WhatSyntax, name+"()")
	if !syntax.ValidName(name) || isProgram(name) || syntax.IsKeyword(name) {
		f.deny("a function with the name of a program")
	}
	inside := st.withOwnInput()
	out := j.judgeStmt(f, c.Body, inside)
	if !sameState(out.either(), inside) {
		j.roaming[name] = true
	}
	text := j.text
	j.bodies = append(j.bodies, body{func(n *Node) {
		j.text = text
		j.judgeStmt(n.addPart(WhatSyntax, name+"() from anywhere"), c.Body, j.laterState(inside))
	}})
	return st.withFunc(name)
}
