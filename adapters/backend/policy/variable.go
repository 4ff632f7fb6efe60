package policy

import (
	"path"
	"regexp"
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

// judgeRedirect judges a redirection.
func (j *judgement) judgeRedirect(n *Node, r *syntax.Redirect, st state) {
	p := n.addPart(WhatRedirect, j.source(r))
	if r.N != nil && !isNumber(r.N.Value) {
		name := strings.Trim(r.N.Value, "{}")
		if !syntax.ValidName(name) {
			p.deny("it sets an unknown variable")
		} else {
			j.judgeName(p, name, false)
		}
	}
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		j.judgeHereDocument(p, r, st)
		return
	}
	f := j.expandWord(p, r.Word, st)
	if r.Op != syntax.WordHdoc && strings.Contains(strings.ReplaceAll(unquoted(r.Word), `\{`, ""), "{") {
		p.deny("braces in the name of the file, which bash may expand; write quotes around them")
	}
	if strings.HasPrefix(f.src, "!") && r.Op != syntax.WordHdoc {
		p.deny("zsh writes to the word after the exclamation mark; write quotes around it")
	}
	switch r.Op {
	case syntax.WordHdoc:
		p.allow("a text on standard input")
	case syntax.DplIn, syntax.DplOut:
		switch {
		case f.known && (f.text == "-" || isNumber(strings.TrimSuffix(f.text, "-"))):
			p.allow("a descriptor")
		case r.Op == syntax.DplIn:
			p.deny("unknown descriptor")
		default:
			j.judgeTarget(p, writes, f, st)
		}
	case syntax.RdrIn:
		j.judgeTarget(p, reads, f, st)
	case syntax.RdrInOut:
		j.judgeTarget(p, reads, f, st)
		j.judgeTarget(p, writes, f, st)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		j.judgeTarget(p, writes, f, st)
	default:
		p.deny("a redirection of another shell")
	}
}

var plainDelimiter = regexp.MustCompile(`^(\w+|'\w+'|"\w+"|\\\w+)$`)

// judgeHereDocument judges a here-document. Within a substitution, bash ends it also at a line
// that only begins with its delimiter, and the parser does not.
func (j *judgement) judgeHereDocument(n *Node, r *syntax.Redirect, st state) {
	n.allow("a text on standard input")
	if !plainDelimiter.MatchString(j.source(r.Word)) {
		n.deny(unlisted("the end of the here-document", "<<'EOF'"))
	}
	if r.Hdoc == nil {
		return
	}
	end := strings.Trim(j.source(r.Word), `\'"`)
	text := strings.TrimSuffix(j.source(r.Hdoc), end)
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, "\t"), end) {
			n.deny("a line of the here-document begins with its end " + end + ", where bash may end it; write another end")
		}
	}
	if end == j.source(r.Word) { // without quotes
		j.denySingleQuotes(n, r.Hdoc)
		j.judgeParts(n, r.Hdoc.Parts, st)
	}
}

// judgeTarget judges the file of a redirection.
func (j *judgement) judgeTarget(p *Node, a access, f field, st state) {
	switch {
	case f.pipe:
		p.allow("a pipe to a command that is judged separately")
	case !f.known && a == writes:
		p.deny("a write to an unknown file")
	case f.mayBegin("/dev/tcp/"), f.mayBegin("/dev/udp/"):
		p.deny("the file may be a connection to a network; write ./ before a name that is unknown")
	default:
		j.judgeOperand(p, a, f, st)
	}
}
