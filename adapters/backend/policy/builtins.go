package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// addShell adds the shells, and their builtins that do more than print.
func addShell() {
	addPrograms(program{judge: judgeChangeDir}, "cd pushd popd")
	addPrograms(program{judge: judgePrintf}, "printf")
	addPrograms(program{judge: judgeTest}, "test [")
	addPrograms(program{judge: judgeRead}, "read mapfile readarray getopts")
	addPrograms(program{judge: judgeUnset}, "unset")
	addPrograms(program{judge: judgeSet}, "set")
	addPrograms(program{judge: judgeTrap}, "trap")
	addPrograms(program{judge: judgeExit}, "exit")
	addPrograms(program{judge: judgeDate}, "date")
	addPrograms(program{class: judged, judge: judgeEval}, "eval")
	addPrograms(program{class: opaque, why: "it runs a file that the policy does not read"}, ". source")
	addPrograms(program{class: judged, judge: judgeShell}, "sh bash dash ash zsh")
}

// judgeChangeDir follows cd. If cd fails, the folder stays the same.
func judgeChangeDir(j *judgement, n *Node, c *command) flow {
	j.moved = true
	n.allow("another folder")
	here, lost := c.st, c.st.inUnknownDir()
	if c.name == "popd" {
		return sameFlow(lost)
	}
	args := c.args
	for len(args) > 0 && args[0].known && (args[0].text == "--" || args[0].text == "-L") {
		args = args[1:]
	}
	var there state
	switch {
	case len(args) == 0 && c.name == "cd" && j.Home != "":
		there = here
		there.dirs = []string{j.Home}
	case len(args) == 1 && args[0].known && args[0].text != "" && !strings.HasPrefix(args[0].text, "-") && !strings.HasPrefix(args[0].text, "+"):
		there = here
		there.dirs = nil
		for _, d := range joinDirs(here.dirs, args[0].text) {
			there.dirs = append(there.dirs, logicalDir(d))
		}
	default:
		return flow{lost, lost}
	}
	return flow{there, here}
}

// logicalDir returns the folder as the shell's PWD has it: .. removes the part before it,
// and symlinks are kept.
func logicalDir(d string) string {
	out := []string{}
	for _, p := range splitPath(d) {
		switch {
		case p == ".":
		case p != "..":
			out = append(out, p)
		case len(out) > 0:
			out = out[:len(out)-1]
		}
	}
	return "/" + strings.Join(out, "/")
}

func judgePrintf(j *judgement, n *Node, c *command) flow {
	n.allow("it prints")
	if len(c.args) > 0 {
		switch first := c.args[0]; {
		case !first.known && first.mayBeOption():
			n.deny("it may set a variable; `printf --` does not")
		case strings.HasPrefix(first.text, "-v"):
			name := literalField(first.text[2:])
			if name.text == "" && len(c.args) > 1 {
				name = c.args[1]
			}
			j.judgeAssigned(n, name, true)
		}
	}
	return sameFlow(c.st)
}

// judgeTest judges [ ], whose -v evaluates the subscript of a name.
func judgeTest(_ *judgement, n *Node, c *command) flow {
	n.allow("a test")
	for i, f := range c.args {
		if f.splits || f.glob {
			n.deny("unknown words may be an operator that runs a subscript; quotes keep them one word")
		}
		if i == 0 || c.args[i-1].known && c.args[i-1].text != "-v" && c.args[i-1].text != "-R" {
			continue
		}
		switch {
		case !f.known:
			n.deny("the variable is unknown, and a subscript may run a command")
		case strings.Contains(f.text, "["):
			n.deny("a subscript that may run a command")
		}
	}
	return sameFlow(c.st)
}

func judgeRead(j *judgement, n *Node, c *command) flow {
	n.allow("it sets variables of the shell")
	if c.name == "getopts" {
		if len(c.args) > 1 {
			j.judgeAssigned(n, c.args[1], true)
		}
		return sameFlow(c.st)
	}
	table := "rse a: d: i: n: N: p: t: u: +"
	if c.name != "read" {
		table = "t d: n: O: s: u: c: C! +"
	}
	got := parseOptions(table, c.args)
	j.judgeOptions(n, c, got)
	for _, o := range got.options {
		if o.name == "-a" && c.name == "read" {
			j.judgeAssigned(n, o.value, true)
		}
	}
	for _, f := range got.operands {
		j.judgeAssigned(n, f, true)
	}
	return sameFlow(c.st)
}

func judgeUnset(j *judgement, n *Node, c *command) flow {
	n.allow("it removes a variable")
	for i, f := range c.args {
		switch {
		case i == 0 && f.known && f.text == "-v":
		case f.known && strings.HasPrefix(f.text, "-"):
			n.deny("it removes a function, and then a program runs in its place")
		default:
			if c.st.funcs[f.text] {
				n.deny("it removes a function, and then a program runs in its place")
			}
			j.judgeAssigned(n, f, false)
		}
	}
	return sameFlow(c.st)
}

// harmlessSetOptions are the options of set that do not change which programs run.
var harmlessSetOptions = []string{"errexit", "nounset", "pipefail", "xtrace", "noglob", "noclobber", "verbose", "noexec"}

func judgeSet(_ *judgement, n *Node, c *command) flow {
	n.allow("the shell's own options")
	for i := 0; i < len(c.args); i++ {
		f := c.args[i]
		switch {
		case !f.known:
			if f.mayBeOption() {
				n.deny("it sets an unknown option")
			}
			return sameFlow(c.st)
		case f.text == "--" || f.text == "-" || f.text == "" || f.text[0] != '-' && f.text[0] != '+':
			return sameFlow(c.st)
		case strings.Trim(f.text, "-+euxfCvno") != "":
			n.deny("an option that changes how a shell reads commands")
		case strings.Contains(f.text, "o"):
			if i++; i < len(c.args) && (!c.args[i].known || !slices.Contains(harmlessSetOptions, c.args[i].text)) {
				n.deny("an option that changes how a shell reads commands")
			}
		}
	}
	return sameFlow(c.st)
}

// judgeTrap judges a text that runs later, in whatever folder the shell is then.
func judgeTrap(j *judgement, n *Node, c *command) flow {
	n.allow("a trap")
	args := c.args
	if len(args) > 0 && args[0].known && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || args[0].known && slices.Contains([]string{"-", "-l", "-p", ""}, args[0].text) {
		return sameFlow(c.st)
	}
	if !args[0].known {
		n.deny("the script of the trap is unknown")
		return sameFlow(c.st)
	}
	lang, st := j.lang, c.st.withOwnInput()
	st.piped = true
	out := j.judgeScript(n, args[0].text, st, lang)
	if !sameState(out.either(), st) {
		j.moved = true
	}
	j.bodies = append(j.bodies, body{func(n *Node) { j.judgeScript(n, args[0].text, j.laterState(st), lang) }})
	return sameFlow(c.st)
}

func judgeExit(_ *judgement, n *Node, c *command) flow {
	n.allow("the end of the shell")
	if len(c.args) == 0 || len(c.args) == 1 && c.args[0].known && isNumber(c.args[0].text) {
		return sameFlow(state{dead: true})
	}
	return sameFlow(c.st)
}

func judgeDate(j *judgement, n *Node, c *command) flow {
	got := parseOptions("IRud: r< --date: --iso-8601? --rfc-3339: --rfc-email --utc --universal --reference<", c.args)
	j.judgeOptions(n, c, got)
	for _, f := range got.operands {
		if !strings.HasPrefix(f.text+f.prefix, "+") || f.splits {
			n.deny("it may set the clock")
		}
	}
	n.allow("it prints")
	return sameFlow(c.st)
}

func judgeEval(j *judgement, n *Node, c *command) flow {
	var texts []string
	for i, f := range c.args {
		if !f.known {
			n.deny("the script is unknown")
			return sameFlow(state{})
		}
		if i == 0 && f.text == "--" {
			continue
		}
		texts = append(texts, f.text)
	}
	return j.judgeScript(n, strings.Join(texts, " "), c.st, j.lang)
}

// judgeShell judges a shell together with the script that it runs.
func judgeShell(j *judgement, n *Node, c *command) flow {
	langs := []syntax.LangVariant{syntax.LangBash}
	switch c.name {
	case "sh", "dash", "ash":
		langs = append(langs, syntax.LangPOSIX)
	case "zsh":
		langs = append(langs, syntax.LangZsh)
	}
	st := c.st
	st.funcs = nil
	fromText, fromInput, args := false, false, c.args
options:
	for ; len(args) > 0; args = args[1:] {
		f := args[0]
		switch {
		case !f.known:
			if f.mayBeOption() {
				n.deny("the script of the shell is unknown")
				return sameFlow(c.st)
			}
			break options
		case f.text == "--" || f.text == "-":
			args = args[1:]
			break options
		case f.text == "--version" || f.text == "--help":
			n.allow("it prints")
			return sameFlow(c.st)
		case f.text == "--login" || f.text == "--norc" || f.text == "--noprofile" || f.text == "--posix":
		case f.text == "" || f.text[0] != '-' && f.text[0] != '+':
			break options
		case strings.Trim(f.text[1:], "celuxsfovn") != "":
			n.deny("an option of a shell that changes what it reads: " + f.text)
		default:
			fromText = fromText || strings.Contains(f.text, "c")
			fromInput = fromInput || strings.Contains(f.text, "s")
			if strings.Contains(f.text, "o") {
				if len(args) < 2 || !args[1].known || !slices.Contains(harmlessSetOptions, args[1].text) {
					n.deny("an option of a shell that changes what it reads")
					return sameFlow(c.st)
				}
				args = args[1:]
			}
		}
	}
	switch {
	case fromText && len(args) == 0:
		n.deny("a shell without a command")
	case fromText && !args[0].known:
		n.deny("the script of the shell is unknown")
	case fromText && len(args) > 1:
		n.deny("words after a command: the shell takes them as arguments, not as part of the command")
	case fromText:
		j.judgeScript(n, args[0].text, st, langs...)
	case len(args) > 0 && !fromInput:
		j.softDeny(n, c, "it runs a script that the policy does not read")
	case st.input != nil && len(args) == 0:
		text := *st.input
		st.input = nil
		j.judgeScript(n, text, st, langs...)
	default:
		n.deny("a shell that runs its standard input")
	}
	return sameFlow(c.st)
}
