package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgeWrapper judges a program that runs the words after its options.
func judgeWrapper(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	inner := got.operands
	if c.name == "timeout" && len(inner) > 0 {
		if !inner[0].known {
			n.deny("the program is unknown")
		}
		inner = inner[1:]
	}
	if c.name == "nohup" { // it keeps the output there if that is a terminal
		j.judgeOperand(n, writes, literalField("nohup.out"), c.st)
	}
	j.judgeInner(n, c, got, inner)
}

// judgeInner judges the program that a wrapper runs. A rule about the wrapper does not apply
// to it.
func (j *judgement) judgeInner(n *Node, c *command, got parsed, argv []field) {
	for _, o := range got.options {
		if o.kind == 'x' {
			n.deny("unknown program after the option " + o.name)
		}
	}
	if len(argv) > 0 {
		out := j.judgeArgv(n.addPart(WhatCommand, joinSource(argv)), argv, c.st)
		if c.name == "command" { // zsh runs a file
			j.after = &flow{mergeStates(out.yes, c.st), mergeStates(out.no, c.st)}
		}
	}
}

// joinSource returns a command roughly as written.
func joinSource(argv []field) string {
	var out []string
	for _, f := range argv {
		s := f.src
		if f.known && s == f.text {
			if q, err := syntax.Quote(s, syntax.LangBash); err == nil {
				s = q
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func judgeCommand(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	if got.hasOption("-v", "-V") {
		n.allow("it prints where a program lies")
		return
	}
	j.judgeInner(n, c, got, got.operands)
}

func judgeEnv(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	for _, o := range got.options {
		if o.kind == ':' { // -u NAME
			j.judgeAssigned(n, o.value)
		}
	}
	words := got.operands
	if len(words) > 0 && words[0].known && words[0].text == "-" {
		words = words[1:]
	}
	for len(words) > 0 {
		name, _, ok := strings.Cut(words[0].text+words[0].prefix, "=")
		if !ok {
			break
		}
		if words[0].splits || words[0].glob {
			n.deny("the program is unknown")
		}
		j.judgeName(n, name, true)
		j.judgeExported(n, name, words[0], true)
		words = words[1:]
	}
	j.judgeInner(n, c, got, words)
}

// judgeXargs judges the program that xargs runs. Unknown words follow it, or replace a
// mark.
func judgeXargs(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	mark := ""
	for _, o := range got.options {
		switch o.name {
		case "-I", "-i", "--replace":
			if mark = o.value.text; !o.value.known && o.value.src != "" || o.value.splits {
				n.deny("the replaced words are unknown")
			}
			if mark == "" {
				mark = "{}"
			}
		}
	}
	argv := got.operands
	if len(argv) == 0 {
		n.allow("it prints")
		return
	}
	if mark != "" {
		argv = replaceMark(argv, mark, "")
	}
	if mark == "" || got.hasOption("-n", "-L", "-l", "--max-args", "--max-lines") { // the last of these counts
		argv = append(slices.Clip(argv), unknownField("…"))
	}
	j.judgeInner(n, c, got, argv)
}

// replaceMark returns the words with the mark replaced by an unknown text with this prefix.
func replaceMark(words []field, mark, prefix string) (out []field) {
	for _, f := range words {
		if head, _, ok := strings.Cut(f.text, mark); ok && f.known {
			f = field{src: f.src, prefix: head + prefix}
		}
		out = append(out, f)
	}
	return out
}
