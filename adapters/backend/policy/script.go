package policy

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/adapters/event"
)

// Bounds of a command. A longer one is denied.
const (
	mostText  = 64 << 10 // bytes of a command
	mostDepth = 8        // shells within shells
	mostNodes = 5000     // parts of a command
)

// moreRights are the members of a shell's input that give a command more than its text does.
var moreRights = []string{"dangerouslyDisableSandbox", "sandbox_permissions", "with_escalated_permissions", "additional_permissions", "env", "environment", "shell"}

// judgeBash judges a call of the shell.
func (j *judgement) judgeBash(n *Node, in map[string]jsontext.Value, allowed bool) {
	text, ok := stringMember(n, in, "command")
	if !ok {
		n.deny("the input has no command")
		return
	}
	for _, name := range moreRights {
		if v := in[name]; v != nil && !slices.Contains([]string{"false", `""`, "{}", `"use_default"`}, string(v)) {
			n.deny("it asks for more than the command, such as to leave the sandbox: " + name)
		}
	}
	j.anyCommand = allowed
	st := state{dirs: j.callDirs()}
	var named []string
	for _, name := range []string{"cwd", "workdir", "dir_path", "directory"} {
		if dir, _ := stringMember(n, in, name); dir != "" {
			named = append(named, joinDirs(st.dirs, dir)...)
		}
	}
	if named != nil {
		st.dirs = named
	}
	for _, d := range st.dirs {
		if place, err := resolvePath(d); err == nil {
			j.startDirs = append(j.startDirs, place)
		}
	}
	j.judgeScript(n, text, st, syntax.LangBash)
	if j.background && len(j.newLinks) > j.linksBefore {
		j.setUnknown(n, "a part in the background may cross a link that another part makes")
	}
}

// judgeScript judges a text for a shell, in each language that the shell may have.
func (j *judgement) judgeScript(n *Node, text string, st state, langs ...syntax.LangVariant) {
	if why := textProblem(text); why != "" {
		n.addPart(WhatScript, text).deny(why)
		return
	}
	if j.depth++; j.depth > mostDepth {
		n.addPart(WhatScript, text).deny("too many shells within shells")
		return
	}
	outer, whole := j.lang, j.text
	j.text = text
	defer func() { j.depth--; j.lang, j.text = outer, whole }()
	for _, lang := range langs {
		s := n.addPart(WhatScript, text)
		j.lang = lang
		f, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
		if err != nil {
			s.deny("it cannot be parsed as " + lang.String() + ": " + err.Error())
			return
		}
		if len(f.Stmts) == 0 {
			s.allow("nothing is done")
		}
		j.judgeStmts(s, f.Stmts, st)
	}
}

// textProblem returns why a text is not parsed, or "".
func textProblem(text string) string {
	switch {
	case len(text) > mostText:
		return "the command is too long to be read"
	case !utf8.ValidString(text):
		return "the command is not UTF-8"
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }):
		return "the command holds control characters"
	case joinedLine.MatchString(text):
		return "a backslash at the end of a line: the parser joins the next line otherwise than shells do; write a space before it, and none in a comment"
	}
	return ""
}

// joinedLine matches a backslash at the end of a comment or of a word: shells also join $\ with
// ( in the next line, and do not join a line behind \\.
var joinedLine = regexp.MustCompile("(?m)\\S\\\\$|(^|[\\s;&|()<>`])#.*\\\\$")

func (j *judgement) judgeStmts(n *Node, list []*syntax.Stmt, st state) flow {
	out := sameFlow(st)
	for _, s := range list {
		out = j.judgeStmt(n, s, out.either())
	}
	return out
}

// judgeStmt judges a statement and returns the state after it.
func (j *judgement) judgeStmt(n *Node, s *syntax.Stmt, st state) flow {
	if j.size++; j.size > mostNodes {
		n.addPart(WhatSyntax, "…").deny("the command has too many parts")
		return sameFlow(state{})
	}
	for _, r := range s.Redirs {
		j.judgeRedirect(n, r, st)
	}
	if s.Coprocess || s.Disown {
		n.addPart(WhatSyntax, j.source(s)).deny("syntax of another shell")
		return sameFlow(state{})
	}
	out := sameFlow(st)
	switch c := s.Cmd.(type) {
	case nil:
		if len(s.Redirs) == 0 {
			n.addPart(WhatSyntax, j.source(s)).allow("nothing is done")
		}
	case *syntax.CallExpr:
		out = j.judgeCall(n, c, st)
	case *syntax.BinaryCmd:
		out = j.judgeBinary(n, c, st)
	case *syntax.Subshell:
		j.judgeStmts(n.addPart(WhatSyntax, "( )"), c.Stmts, st)
		out = sameFlow(st)
	case *syntax.Block:
		out = j.judgeStmts(n, c.Stmts, st)
	case *syntax.IfClause:
		out = sameFlow(j.judgeIf(n, c, st))
	case *syntax.WhileClause:
		out = sameFlow(j.judgeLoop(n, st, func(n *Node, s state) state {
			return j.judgeStmts(n, c.Do, j.judgeStmts(n, c.Cond, s).either()).either()
		}))
	case *syntax.ForClause:
		out = sameFlow(j.judgeFor(n, c, st))
	case *syntax.CaseClause:
		out = sameFlow(j.judgeCase(n, c, st))
	case *syntax.TimeClause:
		if c.Stmt != nil {
			out = j.judgeStmt(n, c.Stmt, st)
		} else {
			n.addPart(WhatSyntax, "time").allow("nothing is done")
		}
	case *syntax.CoprocClause:
		out = sameFlow(j.judgeUnlisted(n, c.Stmt, "a coprocess", "a pipe", st))
	case *syntax.FuncDecl:
		out = sameFlow(j.judgeUnlisted(n, c.Body, "a function", "its commands where they are called", st))
	case *syntax.TestClause:
		j.judgeTestExpr(n.addPart(WhatSyntax, j.source(c)), c.X, st)
	case *syntax.ArithmCmd:
		j.judgeArithmetic(n, c, st, c.X)
	case *syntax.LetClause:
		j.judgeArithmetic(n, c, st, c.Exprs...)
	case *syntax.DeclClause:
		j.judgeDeclare(n.addPart(WhatVariable, j.source(c)), c, st)
	default:
		n.addPart(WhatSyntax, j.source(s)).deny("an unknown construct")
		return sameFlow(state{})
	}
	if len(s.Redirs) > 0 { // if one fails, nothing is done
		out.no = mergeStates(out.no, st)
	}
	if s.Negated {
		out.yes, out.no = out.no, out.yes
	}
	if s.Background {
		j.noteBackground()
		return sameFlow(st)
	}
	return out
}

// CommandInput returns the input of the tool Bash for a command.
func CommandInput(command string) event.Raw {
	b, err := json.Marshal(struct {
		Command string `json:"command"`
	}{command})
	if err != nil {
		return event.Raw(`{"command":null}`) // the command is not UTF-8
	}
	return b
}
