package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hijackingVariables are patterns of variables that change which programs run, or that
// configure them.
var hijackingVariables = listedNames("hijacking variables")

// harmlessVariables are patterns of variables that may be set for other programs.
var harmlessVariables = listedNames("harmless variables")

// shellVariables are the variables in capital letters that a command may set for itself.
var shellVariables = listedNames("shell variables")

// readVariables are those in small letters that a shell or another program reads.
var readVariables = listedNames("read variables")

// isShellVariable reports whether a variable is one of the command itself: no shell and no
// program reads it.
func isShellVariable(name string) bool {
	small := name != "" && name[0] >= 'a' && name[0] <= 'z' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	return small && !matchesAny(readVariables, name) || slices.Contains(shellVariables, name)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// judgeName judges the setting of a variable. env reports whether it is in the
// environment of other programs.
func (j *judgement) judgeName(n *Node, name string, env bool) {
	switch {
	case matchesAny(harmlessVariables, name), !env && isShellVariable(name):
	case matchesAny(hijackingVariables, name) || matchesAny(readVariables, name):
		n.addPart(WhatVariable, name).deny("the variable changes what runs, or where")
	case env:
		j.setUnknown(n.addPart(WhatVariable, name), "an unknown variable for another program: "+name)
	default:
		j.setUnknown(n.addPart(WhatVariable, name), unlisted("the variable "+name, "its name in small letters"))
	}
}

// judgeExported judges the value of a variable that other programs read: make runs what is in
// $(shell …), and the shells of its recipes what follows a semicolon.
func (j *judgement) judgeExported(n *Node, name string, f field, env bool) {
	if matchesAny(harmlessVariables, name) && (strings.ContainsAny(f.text+f.prefix, "$`;|&<>()") || env && !f.known) {
		j.setUnknown(n, "the value may run a command: "+f.src)
	}
}

// judgeAssigned judges a variable that a builtin sets. Its name must be plain.
func (j *judgement) judgeAssigned(n *Node, f field) {
	if !f.known || !syntax.ValidName(f.text) {
		n.deny("it sets an unknown variable, and a subscript may run a command")
		return
	}
	j.judgeName(n, f.text, false)
}

// judgeRedirect judges a redirection and returns the state with the command's standard
// input.
func (j *judgement) judgeRedirect(n *Node, r *syntax.Redirect, st state) state {
	p := n.addPart(WhatRedirect, j.source(r))
	stdin := r.N == nil || r.N.Value == "0"
	if r.N != nil && !isNumber(r.N.Value) {
		name := strings.Trim(r.N.Value, "{}")
		if !syntax.ValidName(name) {
			p.deny("it sets an unknown variable")
		} else {
			j.judgeName(p, name, false)
		}
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		j.judgeWord(p, r.Hdoc, st)
		p.allow("a text on standard input")
		if stdin {
			st.piped, st.input = true, hereDocText(r)
		}
		return st
	case syntax.WordHdoc:
		f := j.expandWord(p, r.Word, st)
		p.allow("a text on standard input")
		if stdin {
			st.piped, st.input = true, nil
			if f.known {
				text := f.text + "\n"
				st.input = &text
			}
		}
		return st
	}
	f := j.expandWord(p, r.Word, st)
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		if f.known && (f.text == "-" || isNumber(strings.TrimSuffix(f.text, "-"))) {
			p.allow("a descriptor")
			if r.Op == syntax.DplIn && stdin {
				st.piped, st.input = true, nil
			}
			return st
		}
		if r.Op == syntax.DplIn {
			p.deny("unknown descriptor")
			return st
		}
		j.judgeTarget(p, writes, f, st)
	case syntax.RdrIn, syntax.RdrInOut:
		j.judgeTarget(p, reads, f, st)
		if r.Op == syntax.RdrInOut {
			j.judgeTarget(p, writes, f, st)
		}
		if stdin {
			st.piped, st.input = true, nil
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		j.judgeTarget(p, writes, f, st)
	default:
		p.deny("a redirection of another shell")
	}
	return st
}

// judgeTarget judges the file of a redirection.
func (j *judgement) judgeTarget(p *Node, a access, f field, st state) {
	switch {
	case f.pipe:
		p.allow("a pipe to a command that is judged separately")
	case !f.known && a == writes:
		p.deny("a write to an unknown file")
	case !f.known && (f.prefix == "" || strings.HasPrefix(f.prefix, "/dev/") || slices.Contains([]string{"/", "/d", "/de", "/dev"}, f.prefix)):
		p.deny("the file is unknown, and some names are connections to a network")
	case strings.HasPrefix(f.text, "/dev/tcp/") || strings.HasPrefix(f.text, "/dev/udp/"):
		p.deny("a connection to a network")
	default:
		j.judgeOperand(p, a, f, st)
	}
}

// hereDocText returns the text of a here-document, or nil if it has expansions.
func hereDocText(r *syntax.Redirect) *string {
	if r.Hdoc == nil {
		empty := ""
		return &empty
	}
	quoted := false
	for _, p := range r.Word.Parts {
		lit, ok := p.(*syntax.Lit)
		quoted = quoted || !ok || strings.ContainsRune(lit.Value, '\\')
	}
	var sb strings.Builder
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			return nil
		}
		sb.WriteString(lit.Value)
	}
	text := sb.String()
	if !quoted {
		if strings.ContainsRune(text, '\\') {
			return nil // the rules of backslashes are too subtle to rely on
		}
	}
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return &text
}
