package policy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/adapters/event"
)

// Bounds of what is read: a longer command is denied, not skimmed.
const (
	mostText  = 64 << 10 // bytes of a command
	mostDepth = 8        // shells within shells
	mostNodes = 5000     // parts of a command
)

// state is what of a shell matters for what follows.
type state struct {
	dirs  []string        // the folders in which it may be; none: nobody knows
	dead  bool            // nothing follows: it has ended
	funcs map[string]bool // functions that are surely declared. Never changed, but copied
	input *string         // what stands on standard input, if that is known
	piped bool            // standard input comes from another command
}

// flow is the state after a command that went well, and after one that did not.
type flow struct{ yes, no state }

func same2(s state) flow { return flow{s, s} }

// merge is the state where either may be.
func merge(a, b state) state {
	switch {
	case a.dead:
		return b
	case b.dead:
		return a
	}
	out := a
	out.funcs = nil
	for f := range a.funcs {
		if b.funcs[f] {
			out = out.with(f)
		}
	}
	if len(a.dirs) == 0 || len(b.dirs) == 0 {
		out.dirs = nil
		return out
	}
	out.dirs = slices.Clone(a.dirs)
	for _, d := range b.dirs {
		if !slices.Contains(out.dirs, d) {
			out.dirs = append(out.dirs, d)
		}
	}
	if len(out.dirs) > 8 {
		out.dirs = nil
	}
	return out
}

func (f flow) both() state { return merge(f.yes, f.no) }

// with is the state with a function more.
func (s state) with(name string) state {
	funcs := map[string]bool{name: true}
	for f := range s.funcs {
		funcs[f] = true
	}
	s.funcs = funcs
	return s
}

func equal(a, b state) bool { return slices.Equal(a.dirs, b.dirs) && a.dead == b.dead }

// fresh is the state with the standard input of the shell.
func (s state) fresh() state {
	s.input, s.piped = nil, false
	return s
}

// bash judges a call of the shell.
func (j *judgement) bash(n *Node, in map[string]jsontext.Value, allowed bool) {
	text, ok := str(n, in, "command")
	if !ok {
		n.deny("the input has no command")
		return
	}
	if v := in["dangerouslyDisableSandbox"]; v != nil && string(v) != "false" {
		n.deny("it asks to leave the sandbox")
	}
	j.anyCommand = allowed
	st := state{dirs: j.folders()}
	if v := in["cwd"]; v != nil {
		var dir string
		if json.Unmarshal(v, &dir) != nil {
			n.deny("the input's cwd is no string")
		} else if dir != "" {
			st.dirs = join(st.dirs, dir)
		}
	}
	j.script(n, text, st, syntax.LangBash)
	if j.moved { // a function may be called from another folder than it was declared in
		for _, f := range j.bodies {
			f.again(n)
		}
	}
	j.numbers(n)
}

// script judges a text that a shell runs, in each of the languages that the shell
// may speak.
func (j *judgement) script(n *Node, text string, st state, langs ...syntax.LangVariant) flow {
	if why := unfit(text); why != "" {
		n.part(WhatScript, text).deny(why)
		return same2(state{})
	}
	if j.depth++; j.depth > mostDepth {
		n.part(WhatScript, text).deny("too many shells within shells")
		return same2(state{})
	}
	outer, whole := j.lang, j.text
	j.text = text
	defer func() { j.depth--; j.lang, j.text = outer, whole }()
	st.piped, st.input = st.piped || st.input != nil, nil // the text's own commands share it
	var out flow
	for i, lang := range langs {
		s := n.part(WhatScript, text)
		j.lang = lang
		f, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
		if err != nil {
			s.deny("it cannot be parsed as " + lang.String() + ": " + err.Error())
			return same2(state{})
		}
		if len(f.Stmts) == 0 {
			s.allow("nothing is done")
			return same2(st)
		}
		one := j.stmts(s, f.Stmts, st)
		if i == 0 {
			out = one
		} else {
			out = flow{merge(out.yes, one.yes), merge(out.no, one.no)}
		}
	}
	return out
}

// unfit says why a text is not looked at.
func unfit(text string) string {
	switch {
	case len(text) > mostText:
		return "the command is too long to be read"
	case !utf8.ValidString(text):
		return "the command is no UTF-8"
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		return "the command holds control characters"
	}
	return ""
}

func (j *judgement) stmts(n *Node, list []*syntax.Stmt, st state) flow {
	out := same2(st)
	for _, s := range list {
		out = j.stmt(n, s, out.both())
	}
	return out
}

// stmt judges a statement and says what state it leaves.
func (j *judgement) stmt(n *Node, s *syntax.Stmt, st state) flow {
	if j.size++; j.size > mostNodes {
		n.part(WhatSyntax, "…").deny("the command has too many parts")
		return same2(state{})
	}
	in := st
	for _, r := range s.Redirs {
		in = j.redirect(n, r, in)
	}
	if s.Coprocess || s.Disown {
		n.part(WhatSyntax, j.source(s)).deny("a coprocess of another shell")
		return same2(state{})
	}
	if _, simple := s.Cmd.(*syntax.CallExpr); !simple && in.input != nil {
		in.piped, in.input = true, nil // whoever reads first takes a part of it
	}
	out := same2(st)
	switch c := s.Cmd.(type) {
	case nil:
		if len(s.Redirs) == 0 {
			n.part(WhatSyntax, j.source(s)).allow("nothing is done")
		}
	case *syntax.CallExpr:
		out = j.call(n, c, in)
	case *syntax.BinaryCmd:
		out = j.binary(n, c, in)
	case *syntax.Subshell:
		j.stmts(n.part(WhatSyntax, "( )"), c.Stmts, in)
		out = same2(st)
	case *syntax.Block:
		out = j.stmts(n, c.Stmts, in)
	case *syntax.IfClause:
		out = same2(j.branch(n, c, in))
	case *syntax.WhileClause:
		out = same2(j.loop(n, in, func(n *Node, s state) state {
			return j.stmts(n, c.Do, j.stmts(n, c.Cond, s).both()).both()
		}))
	case *syntax.ForClause:
		out = same2(j.each(n, c, in))
	case *syntax.CaseClause:
		out = same2(j.choose(n, c, in))
	case *syntax.TimeClause:
		if c.Stmt != nil {
			out = j.stmt(n, c.Stmt, in)
		} else {
			n.part(WhatSyntax, "time").allow("nothing is done")
		}
	case *syntax.CoprocClause:
		if c.Name != nil {
			j.assigned(n, j.field(n, c.Name, in), true)
		}
		j.stmt(n, c.Stmt, in.fresh())
	case *syntax.FuncDecl:
		out = same2(j.function(n, c, in))
	case *syntax.TestClause:
		j.test(n.part(WhatSyntax, j.source(c)), c.X, in)
	case *syntax.ArithmCmd:
		p := n.part(WhatSyntax, j.source(c))
		j.arith(p, c.X, in)
		p.allow("arithmetic")
	case *syntax.LetClause:
		p := n.part(WhatSyntax, j.source(c))
		for _, x := range c.Exprs {
			j.arith(p, x, in)
		}
		p.allow("arithmetic")
	case *syntax.DeclClause:
		j.declare(n.part(WhatVariable, j.source(c)), c, in)
	default:
		n.part(WhatSyntax, j.source(s)).deny("a construct that nobody knows")
		return same2(state{})
	}
	if s.Negated {
		out.yes, out.no = out.no, out.yes
	}
	if s.Background {
		return same2(st)
	}
	// Redirections hold for the command alone.
	out.yes.input, out.yes.piped, out.no.input, out.no.piped = st.input, st.piped, st.input, st.piped
	return out
}

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

// declared is the state, but with the functions of another.
func declared(s, as state) state {
	s.funcs = as.funcs
	return s
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

// nowhere is the state when nobody knows the folder.
func (s state) nowhere() state {
	s.dirs, s.dead = nil, false
	return s
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

// join is a folder seen from each of the others.
func join(dirs []string, to string) (out []string) {
	if strings.HasPrefix(to, "/") {
		return []string{to}
	}
	for _, d := range dirs {
		out = append(out, d+"/"+to)
	}
	return out
}

// CommandInput is the input of the tool Bash for a command.
func CommandInput(command string) event.Raw {
	b, err := json.Marshal(struct {
		Command string `json:"command"`
	}{command})
	if err != nil {
		return event.Raw(`{"command":null}`) // no UTF-8: there is no such command
	}
	return b
}
