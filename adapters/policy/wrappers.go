package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// addWrappers adds programs that run another one, which their words name.
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
		add(program{class: judged, judge: wrapper(table, 0)}, names)
	}
	add(program{class: judged, judge: wrapper("+ vk: s: --kill-after: --signal: --foreground --preserve-status --verbose", 1)}, "timeout")
	add(program{class: judged, judge: wrapper("+", 0)}, "builtin")
	add(program{class: judged, judge: judgeCommand}, "command")
	add(program{class: judged, judge: wrapper("+ cla:", 0)}, "exec")
	add(program{class: judged, judge: judgeEnv}, "env")
	add(program{class: judged, judge: judgeXargs}, "xargs")
}

// wrapper judges a program that runs what stands behind its options and so many
// more words.
func wrapper(table string, skip int) func(*judgement, *Node, *command) flow {
	return func(j *judgement, n *Node, c *command) flow {
		got := parseOptions(table, c.args)
		j.options(n, c, got)
		inner := got.operands
		for i := range min(skip, len(inner)) {
			if !inner[i].known {
				n.deny("nobody knows which program runs")
			}
		}
		return j.inner(n, c, got, inner[min(skip, len(inner)):])
	}
}

// inner judges the program that a wrapper runs.
func (j *judgement) inner(n *Node, c *command, got parsed, argv []field) flow {
	for _, o := range got.options {
		if o.kind == 'x' {
			n.deny("nobody knows which program runs behind the option " + o.name)
		}
	}
	if len(argv) == 0 {
		n.allow("nothing is run")
		return same2(c.st)
	}
	st := c.st
	st.funcs = nil // functions are the shell's alone
	// The inner program is judged by rules of its own; a rule about the wrapper
	// does not speak for it.
	if out := j.run(n.part(WhatCommand, spell(argv)), argv, st); c.name == "builtin" || c.name == "command" {
		out.yes.funcs, out.no.funcs = c.st.funcs, c.st.funcs
		return out
	}
	return same2(c.st)
}

// spell is a command as it was written, more or less.
func spell(argv []field) string {
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
	if got.has("-v", "-V") {
		n.allow("it prints where a program lies")
		return same2(c.st)
	}
	return j.inner(n, c, got, got.operands)
}

func judgeEnv(j *judgement, n *Node, c *command) flow {
	got := parseOptions("+ i0vu: C: S! --ignore-environment --null --unset: --chdir: --split-string! --debug", c.args)
	j.options(n, c, got)
	inner := *c
	for _, o := range got.options {
		switch o.name {
		case "-C", "--chdir":
			inner.st.dirs = nil
			if o.value.known {
				inner.st.dirs = join(c.st.dirs, o.value.text)
			}
		case "-u", "--unset":
			j.assigned(n, o.value, false)
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
			n.deny("nobody knows which program runs")
		}
		j.name(n, name, true)
		words = words[1:]
	}
	return j.inner(n, &inner, got, words)
}

// judgeXargs judges the program that xargs runs: words that nobody knows stand
// behind it, or in the place of a mark.
func judgeXargs(j *judgement, n *Node, c *command) flow {
	got := parseOptions(`+ 0rtpxa< d: E: e? I: i? L: l? n: P: s: --null --no-run-if-empty --arg-file< --delimiter: --eof? --replace? --max-lines? --max-args: --max-procs: --max-chars:
		--verbose --interactive --exit --show-limits`, c.args)
	j.options(n, c, got)
	mark := ""
	for _, o := range got.options {
		switch o.name {
		case "-I", "-i", "--replace":
			if mark = o.value.text; !o.value.known && o.value.src != "" || o.value.splits {
				n.deny("nobody knows which words are replaced")
			}
			if mark == "" {
				mark = "{}"
			}
		}
	}
	argv := got.operands
	if len(argv) == 0 {
		n.allow("it prints")
		return same2(c.st)
	}
	inner := *c
	inner.st.input, inner.st.piped = nil, true
	if mark != "" {
		argv = marked(argv, mark)
	} else {
		argv = append(slices.Clip(argv), somewhat("…"))
	}
	j.inner(n, &inner, got, argv)
	return same2(c.st)
}

// marked are words of which some hold a mark that is replaced by what nobody
// knows.
func marked(words []field, mark string) (out []field) {
	for _, f := range words {
		if head, _, ok := strings.Cut(f.text, mark); ok && f.known {
			f = field{src: f.src, prefix: head}
		}
		out = append(out, f)
	}
	return out
}
