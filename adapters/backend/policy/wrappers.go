package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// addWrappers adds the programs that run another program named by their words.
func addWrappers() {
	for names, table := range map[string]string{
		"nohup":   "+ --help --version",
		"setsid":  "+ cfw --ctty --fork --wait",
		"nice":    "+ 0123456789n: --adjustment:",
		"ionice":  "+ tc: n: --class: --classdata: --ignore",
		"stdbuf":  "+ i: o: e: --input: --output: --error:",
		"time":    "+ apvqf: o> --format: --output> --append --portability --verbose --quiet",
		"busybox": "+", "toybox": "+",
	} {
		addPrograms(program{class: judged, judge: judgeWrapper(table, 0)}, names)
	}
	addPrograms(program{class: judged, judge: judgeWrapper("+ vk: s: --kill-after: --signal: --foreground --preserve-status --verbose", 1)}, "timeout")
	addPrograms(program{class: judged, judge: judgeWrapper("+", 0)}, "builtin")
	addPrograms(program{class: judged, judge: judgeCommand}, "command")
	addPrograms(program{class: judged, judge: judgeWrapper("+ cla:", 0)}, "exec")
	addPrograms(program{class: judged, judge: judgeEnv}, "env")
	addPrograms(program{class: judged, judge: judgeXargs}, "xargs")
}

// judgeWrapper returns a judge of a program that runs the words after its options and
// after skip more words.
func judgeWrapper(table string, skip int) func(*judgement, *Node, *command) flow {
	return func(j *judgement, n *Node, c *command) flow {
		got := parseOptions(table, c.args)
		j.judgeOptions(n, c, got)
		inner := got.operands
		for i := range min(skip, len(inner)) {
			if !inner[i].known {
				n.deny("the program is unknown")
			}
		}
		return j.judgeInner(n, c, got, inner[min(skip, len(inner)):])
	}
}

// judgeInner judges the program that a wrapper runs.
func (j *judgement) judgeInner(n *Node, c *command, got parsed, argv []field) flow {
	for _, o := range got.options {
		if o.kind == 'x' {
			n.deny("unknown program after the option " + o.name)
		}
	}
	if len(argv) == 0 {
		n.allow("nothing is run")
		return sameFlow(c.st)
	}
	st := c.st
	st.funcs = nil // programs cannot call functions of the shell
	// A rule about the wrapper does not apply to the inner program.
	if out := j.judgeArgv(n.addPart(WhatCommand, joinSource(argv)), argv, st); c.name == "builtin" || c.name == "command" {
		out.yes.funcs, out.no.funcs = c.st.funcs, c.st.funcs
		return out
	}
	return sameFlow(c.st)
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

func judgeCommand(j *judgement, n *Node, c *command) flow {
	got := parseOptions("+ pvV", c.args)
	if got.hasOption("-v", "-V") {
		n.allow("it prints where a program lies")
		return sameFlow(c.st)
	}
	return j.judgeInner(n, c, got, got.operands)
}

func judgeEnv(j *judgement, n *Node, c *command) flow {
	got := parseOptions("+ i0vu: C: S! --ignore-environment --null --unset: --chdir: --split-string! --debug", c.args)
	j.judgeOptions(n, c, got)
	inner := *c
	for _, o := range got.options {
		switch o.name {
		case "-C", "--chdir":
			inner.st.dirs = nil
			if o.value.known {
				inner.st.dirs = joinDirs(c.st.dirs, o.value.text)
			}
		case "-u", "--unset":
			j.judgeAssigned(n, o.value, false)
		}
	}
	words := got.operands
	if len(words) > 0 && words[0].known && words[0].text == "-" {
		words = words[1:]
	}
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].text+words[0].prefix, "=")
		if !ok {
			break
		}
		if words[0].splits || words[0].glob {
			n.deny("the program is unknown")
		}
		j.judgeName(n, name, true)
		j.noteValue(n, name, words[0].known && isNumber(value))
		words = words[1:]
	}
	return j.judgeInner(n, &inner, got, words)
}

// judgeXargs judges the program that xargs runs. Unknown words follow it, or replace a
// mark.
func judgeXargs(j *judgement, n *Node, c *command) flow {
	got := parseOptions(`+ 0rtpxa< d: E: e? I: i? L: l? n: P: s: --null --no-run-if-empty --arg-file< --delimiter: --eof? --replace? --max-lines? --max-args: --max-procs: --max-chars:
		--verbose --interactive --exit --show-limits`, c.args)
	j.judgeOptions(n, c, got)
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
		return sameFlow(c.st)
	}
	inner := *c
	inner.st.input, inner.st.piped = nil, true
	if mark != "" {
		argv = replaceMark(argv, mark)
	} else {
		argv = append(slices.Clip(argv), unknownField("…"))
	}
	j.judgeInner(n, &inner, got, argv)
	return sameFlow(c.st)
}

// replaceMark returns the words with the part from the mark on unknown.
func replaceMark(words []field, mark string) (out []field) {
	for _, f := range words {
		if head, _, ok := strings.Cut(f.text, mark); ok && f.known {
			f = field{src: f.src, prefix: head}
		}
		out = append(out, f)
	}
	return out
}
