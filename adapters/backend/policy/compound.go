package policy

import "mvdan.cc/sh/v3/syntax"

func (j *judgement) judgeBinary(n *Node, c *syntax.BinaryCmd, st state) flow {
	switch c.Op {
	case syntax.AndStmt:
		x := j.judgeStmt(n, c.X, st)
		y := j.judgeStmt(n, c.Y, x.yes)
		return flow{y.yes, mergeStates(x.no, y.no)}
	case syntax.OrStmt:
		x := j.judgeStmt(n, c.X, st)
		y := j.judgeStmt(n, c.Y, x.no)
		return flow{mergeStates(x.yes, y.yes), y.no}
	case syntax.Pipe, syntax.PipeAll:
		j.judgeStmt(n, c.X, st)
		links := len(j.newLinks)
		y := j.judgeStmt(n, c.Y, st)
		if len(j.newLinks) > links { // both run at the same time
			j.judgeStmt(n, c.X, st)
		}
		// With lastpipe, the shell itself runs the last command.
		return sameFlow(mergeStates(y.either(), st))
	}
	n.addPart(WhatSyntax, j.source(c)).deny("an unknown operator")
	return sameFlow(state{})
}

func (j *judgement) judgeIf(n *Node, c *syntax.IfClause, st state) state {
	if len(c.Cond) == 0 { // else
		return j.judgeStmts(n, c.Then, st).either()
	}
	cond := j.judgeStmts(n, c.Cond, st)
	out := j.judgeStmts(n, c.Then, cond.yes).either()
	if c.Else != nil {
		out = mergeStates(out, j.judgeIf(n, c.Else, cond.no))
	} else {
		out = mergeStates(out, cond.no)
	}
	return out
}

// judgeLoop judges a body that may run again. If the body changes the folder, it is
// judged again with an unknown folder.
func (j *judgement) judgeLoop(n *Node, st state, body func(*Node, state) state) state {
	l, links, outer := n.addPart(WhatSyntax, "loop"), len(j.newLinks), j.left
	j.left = state{dead: true}
	out := mergeStates(st, body(l, st))
	out, j.left = mergeStates(out, j.left), mergeStates(outer, j.left)
	if len(j.newLinks) > links {
		body(l, st)
	}
	if sameState(out, st) {
		return st
	}
	l.Parts = nil
	lost := st
	lost.dirs = nil
	return body(l, lost).inUnknownDir()
}

func (j *judgement) judgeFor(n *Node, c *syntax.ForClause, st state) state {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		p := n.addPart(WhatVariable, j.source(l))
		j.judgeName(p, l.Name.Value, false)
		j.expandWords(p, l.Items, st)
		p.allow("a variable of the shell")
	default:
		j.setUnknown(n.addPart(WhatSyntax, "for (( ))"), unlisted("a loop that counts", "for i in 1 2 3, or for i in $(seq 9)"))
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
	return out
}

// noteBackground remembers that the part that was judged last runs while later ones do.
func (j *judgement) noteBackground() {
	if !j.background {
		j.background, j.linksBefore = true, len(j.newLinks)
	}
}

// unlisted returns the reason against a construct that is not known to be harmless, with
// what to write instead.
func unlisted(what, instead string) string {
	return what + " is not on the list of what is known to be harmless; write " + instead
}

// judgeUnlisted judges a construct that is not known to be harmless. What is denied in it
// stays denied.
func (j *judgement) judgeUnlisted(n *Node, s *syntax.Stmt, what, instead string, st state) state {
	p := n.addPart(WhatSyntax, what)
	j.setUnknown(p, unlisted(what, instead))
	if s != nil {
		j.judgeStmt(p, s, st)
	}
	return st.inUnknownDir()
}
