package policy

import "mvdan.cc/sh/v3/syntax"

func (j *judgement) binary(n *Node, c *syntax.BinaryCmd, st state) flow {
	switch c.Op {
	case syntax.AndStmt:
		x := j.stmt(n, c.X, st)
		y := j.stmt(n, c.Y, x.yes)
		return flow{y.yes, declared(merge(x.no, y.no), x.both())}
	case syntax.OrStmt:
		x := j.stmt(n, c.X, st)
		y := j.stmt(n, c.Y, x.no)
		return flow{declared(merge(x.yes, y.yes), x.both()), y.no}
	case syntax.Pipe, syntax.PipeAll:
		j.stmt(n, c.X, st)
		in := st.fresh()
		in.piped = true
		y := j.stmt(n, c.Y, in)
		// With lastpipe the last command is the shell's own.
		out := declared(merge(y.both(), st), st)
		out.input, out.piped = st.input, st.piped
		return same2(out)
	}
	n.part(WhatSyntax, j.source(c)).deny("an operator that nobody knows")
	return same2(state{})
}

func (j *judgement) branch(n *Node, c *syntax.IfClause, st state) state {
	if len(c.Cond) == 0 { // else
		return declared(j.stmts(n, c.Then, st).both(), st)
	}
	cond := j.stmts(n, c.Cond, st)
	out := j.stmts(n, c.Then, cond.yes).both()
	if c.Else != nil {
		out = merge(out, j.branch(n, c.Else, cond.no))
	} else {
		out = merge(out, cond.no)
	}
	return declared(out, st)
}

// loop judges a body that may run again. If it leaves another folder behind,
// nobody knows where the second round begins.
func (j *judgement) loop(n *Node, st state, body func(*Node, state) state) state {
	l := n.part(WhatSyntax, "loop")
	out := declared(merge(st, body(l, st)), st)
	if equal(out, st) {
		return st
	}
	l.Parts = nil
	lost := st
	lost.dirs = nil
	return declared(body(l, lost), st).nowhere()
}

func (j *judgement) each(n *Node, c *syntax.ForClause, st state) state {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		p := n.part(WhatVariable, j.source(l))
		j.name(p, l.Name.Value, false)
		for _, f := range j.fields(p, l.Items, st) {
			if !f.known || !isNumber(f.text) {
				j.tainted[l.Name.Value] = true
			}
		}
		if !l.InPos.IsValid() {
			j.tainted[l.Name.Value] = true // the arguments
		}
		p.allow("a variable of the shell")
	case *syntax.CStyleLoop:
		p := n.part(WhatSyntax, "for (( ))")
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			if x != nil {
				j.arith(p, x, st)
			}
		}
		p.allow("arithmetic")
	default:
		n.part(WhatSyntax, j.source(c)).deny("a loop that nobody knows")
	}
	if c.Select {
		n.part(WhatSyntax, "select").deny("it asks on a terminal")
	}
	return j.loop(n, st, func(n *Node, s state) state { return j.stmts(n, c.Do, s).both() })
}

func (j *judgement) choose(n *Node, c *syntax.CaseClause, st state) state {
	p := n.part(WhatSyntax, "case "+j.source(c.Word))
	j.word(p, c.Word, st)
	p.allow("a choice")
	out := st
	for _, it := range c.Items {
		for _, w := range it.Patterns {
			j.word(p, w, st)
		}
		// With ;& an item follows on the one before.
		out = merge(out, j.stmts(p, it.Stmts, out).both())
	}
	return declared(out, st)
}

// body is that of a function, to be judged once more.
type body struct{ again func(*Node) }

// function judges the body where it is declared. Its name must not be a
// program's: then nobody would know what runs.
func (j *judgement) function(n *Node, c *syntax.FuncDecl, st state) state {
	if c.Name == nil || len(c.Names) > 0 {
		n.part(WhatSyntax, j.source(c)).deny("a function of another shell")
		return state{}
	}
	name := c.Name.Value
	f := n.part(WhatSyntax, name+"()")
	if !syntax.ValidName(name) || isProgram(name) || syntax.IsKeyword(name) {
		f.deny("a function in the place of a program")
	}
	inside := st.fresh()
	out := j.stmt(f, c.Body, inside)
	if !equal(out.both(), inside) {
		j.roaming[name] = true
	}
	text := j.text
	j.bodies = append(j.bodies, body{func(n *Node) {
		j.text = text
		j.stmt(n.part(WhatSyntax, name+"() from anywhere"), c.Body, inside.nowhere())
	}})
	return st.with(name)
}
