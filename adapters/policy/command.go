package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/adapters"
)

// command is a simple command that is about to be judged.
type command struct {
	name string  // of the program, without a folder
	args []field // its words after the name
	st   state
	rule bool // a rule allows it
}

// call judges a simple command as it stands in a script.
func (j *judgement) call(n *Node, c *syntax.CallExpr, st state) flow {
	cmd := n.part(WhatCommand, j.source(c))
	for _, a := range c.Assigns {
		j.assign(cmd, a, st, len(c.Args) > 0)
	}
	if len(c.Args) == 0 {
		return same2(st)
	}
	return j.run(cmd, j.fields(cmd, c.Args, st), st)
}

// systemFolders are those whose programs are what their names say.
var systemFolders = []string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"}

// run judges a program with its words.
func (j *judgement) run(n *Node, argv []field, st state) flow {
	if j.size++; j.size > mostNodes {
		n.deny("the command has too many parts")
		return same2(state{})
	}
	if len(argv) == 0 {
		n.allow("nothing is done")
		return same2(st)
	}
	if !argv[0].known {
		n.deny("nobody knows which program runs")
		return same2(state{})
	}
	rule := j.commandRules(n, argv)
	c := &command{name: argv[0].text, args: argv[1:], st: st, rule: rule || j.anyCommand}
	if dir, base := path.Split(c.name); dir != "" {
		p, ok := programs[base]
		if !slices.Contains(systemFolders, dir) && (!ok || p.class != guarded) {
			j.soft(n, c, "a program by its path, which may be anything")
			return same2(st)
		}
		c.name = base
	} else if st.funcs[c.name] {
		n.allow("a function, judged where it is declared")
		if j.roaming[c.name] {
			return same2(st.nowhere())
		}
		return same2(st)
	}
	p, ok := programs[c.name]
	if !ok {
		j.soft(n, c, "nobody knows the program")
		return same2(st)
	}
	return j.program(n, p, c)
}

// soft is for what nobody can say anything about: an allow rule may.
func (j *judgement) soft(n *Node, c *command, reason string) {
	if c.rule {
		n.allow("a rule allows it")
		return
	}
	j.unknown(n, reason)
}

// program judges a command of a program that is known.
func (j *judgement) program(n *Node, p *program, c *command) flow {
	switch p.class {
	case guarded:
		n.deny(p.why)
		return same2(c.st)
	case opaque:
		j.soft(n, c, p.why)
		return same2(c.st)
	case builds:
		j.builds(n, c)
	}
	if p.judge != nil {
		return p.judge(j, n, c)
	}
	j.plain(n, p, c)
	return same2(c.st)
}

// builds judges what runs the code of the workspace.
func (j *judgement) builds(n *Node, c *command) {
	if j.mode() == Planner {
		j.soft(n, c, "a planner runs no code of the workspace")
		return
	}
	for _, d := range c.st.dirs {
		if place, err := physical(d); err != nil || !j.within(place) {
			n.deny("it runs code outside of the workspace: " + d)
		}
	}
	if len(c.st.dirs) == 0 {
		n.deny("it runs code, and nobody knows in which folder")
	}
}

// plain judges options and operands by the program's table.
func (j *judgement) plain(n *Node, p *program, c *command) {
	operands := c.args
	if p.options != "" {
		got := parseOptions(p.options, c.args)
		j.options(n, c, got)
		operands = got.operands
	} else {
		var hidden []field
		operands, hidden = unhide(operands)
		j.operands(n, readsAll, hidden, c.st)
	}
	args := p.args
	if args == readsAfterFirst && patternInOption(c.args) {
		args = readsAll
	}
	j.operands(n, args, operands, c.st)
	n.allow(p.says())
}

// unhide are the operands of a program whose options do no harm, and what may be
// a path in an option: a word or two too many, since nobody lists them.
func unhide(words []field) (out, hidden []field) {
	for _, f := range words {
		if !f.known || !strings.HasPrefix(f.text, "-") || f.text == "-" {
			out = append(out, f)
			continue
		}
		_, v, ok := strings.Cut(f.text, "=")
		if !ok && len(f.text) > 2 && f.text[1] != '-' {
			v = f.text[2:]
		}
		if strings.ContainsAny(v, "/~.") {
			hidden = append(hidden, literal(v))
		}
	}
	return out, hidden
}

// patternInOption reports whether an option may give what else is the first
// operand: a pattern, a filter.
func patternInOption(words []field) bool {
	return slices.ContainsFunc(words, func(f field) bool {
		long := strings.HasPrefix(f.text, "--")
		return f.mayBeOption() && (!f.known || !long && strings.ContainsAny(f.text, "ef") ||
			long && (strings.HasPrefix(f.text, "--re") || strings.HasPrefix(f.text, "--f")))
	})
}

// options judges what a program is told by options.
func (j *judgement) options(n *Node, c *command, got parsed) {
	for _, o := range got.options {
		switch o.kind {
		case 0, ':', '?':
		case '>':
			j.operand(n, writes, o.value, c.st)
		case '<':
			j.operand(n, reads, o.value, c.st)
		case '!':
			n.deny("the option " + o.name + " runs another program, or reaches out of what can be judged")
		case 'x':
			j.soft(n, c, "nobody knows the option "+o.name)
		default:
			n.deny("the option " + o.name + " is of no kind")
		}
	}
}

// operands judges the words of a program that are no options.
func (j *judgement) operands(n *Node, kind operandKind, words []field, st state) {
	for i, f := range words {
		a := reads
		switch kind {
		case nothing:
			continue
		case readsAfterFirst:
			if i == 0 {
				continue
			}
		case writesAll:
			a = writes
		case writesLast:
			if i == len(words)-1 {
				a = writes
			}
		}
		if a == reads && f.known && f.text == "-" {
			continue
		}
		j.operand(n, a, f, st)
	}
}

// operand judges a word that names a file.
func (j *judgement) operand(n *Node, a access, f field, st state) {
	rule := "Read"
	if a == writes {
		rule = "Write"
	}
	switch {
	case f.pipe:
		n.part(a.what(), f.src).allow("a pipe to what is judged apart")
	case f.known:
		j.path(n, a, rule, f.text, st.dirs)
	case f.glob && a == writes:
		j.glob(n, f, st)
	default:
		j.placeless(n.part(a.what(), f.src), a, rule, "nobody knows which file")
	}
}

// glob judges a write to whatever matches a pattern: the folder before its first
// special character, and what matches on the disk now.
func (j *judgement) glob(n *Node, f field, st state) {
	dir := f.prefix[:strings.LastIndexByte(f.prefix, '/')+1]
	cut := 0 // where the pattern's own parts begin
	for range strings.Count(dir, "/") {
		cut += strings.IndexByte(f.text[cut:], '/') + 1
	}
	parts := split(f.text[cut:])
	p := n.part(WhatWrite, f.src)
	for _, part := range parts {
		up, err := path.Match(goGlob(part), "..")
		if up && strings.HasPrefix(part, ".") || err != nil || part == ".." || strings.Contains(part, "[:") || len(parts) > 4 {
			p.deny("a write, and nobody knows what the pattern matches")
			return
		}
	}
	if dir == "" {
		dir = "."
	}
	p.allow("what matches")
	j.path(p, writes, "Write", dir, st.dirs)
	p.settle()
	if p.Effect != adapters.EffectAllow {
		return
	}
	j.pathRules(p, "Write", "")
	for _, d := range join(st.dirs, dir) {
		matches, err := filepath.Glob(escapeGlob(d) + "/" + goGlob(f.text[cut:]))
		if err != nil || len(matches) > mostFields {
			p.deny("nobody knows what the pattern matches")
			return
		}
		for _, m := range matches {
			if hidden(split(m), parts) {
				continue
			}
			j.path(p, writes, "Write", m, nil)
		}
	}
}

// goGlob is a shell's pattern as Go has it.
func goGlob(s string) string { return strings.ReplaceAll(s, "[!", "[^") }

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// hidden reports whether a name that begins with a dot was matched by a pattern
// that does not: a shell would not have.
func hidden(name, pattern []string) bool {
	for i, p := range pattern {
		if strings.HasPrefix(name[len(name)-len(pattern)+i], ".") && !strings.HasPrefix(p, ".") {
			return true
		}
	}
	return false
}

// commandRules lets the rules speak about a command. Rules that deny or ask mean
// a program wherever it lies; git's own options do not hide its subcommand.
func (j *judgement) commandRules(n *Node, argv []field) bool {
	loose := slices.Clone(argv)
	loose[0].text = path.Base(loose[0].text)
	forms := [][]field{loose}
	if loose[0].text == "git" {
		if _, sub := gitGlobal(loose[1:]); len(sub) > 0 {
			forms = append(forms, append([]field{loose[0]}, sub...))
		}
	}
	return j.apply(n, func(r Rule, exact bool) (may, does bool) {
		if r.tool != "Bash" || r.bare {
			return false, false
		}
		if exact {
			return false, matchWords(r.words, argv, true)
		}
		for _, form := range forms {
			may = may || matchWords(r.words, form, false)
			does = does || matchWords(r.words, form, true)
		}
		return may, does
	})
}
