package policy

import (
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
