package policy

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/turnspec/turnspec/adapters"
)

// command is a simple command to judge.
type command struct {
	name string  // of the program, without a folder
	args []field // its words after the name
	st   state
	rule bool // a rule allows it
}

// judgeCall judges a simple command of a script.
func (j *judgement) judgeCall(n *Node, c *syntax.CallExpr, st state) flow {
	cmd := n.addPart(WhatCommand, j.source(c))
	for _, a := range c.Assigns {
		j.judgeAssign(cmd, a, st, len(c.Args) > 0)
	}
	if len(c.Args) == 0 {
		return sameFlow(st)
	}
	return j.judgeArgv(cmd, j.expandWords(cmd, c.Args, st), st)
}

// systemFolders are the folders whose programs are known by their names.
var systemFolders = []string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"}

// judgeArgv judges a program with its words.
func (j *judgement) judgeArgv(n *Node, argv []field, st state) flow {
	if j.size++; j.size > mostNodes {
		n.deny("the command has too many parts")
		return sameFlow(state{})
	}
	if len(argv) == 0 {
		n.allow("nothing is done")
		return sameFlow(st)
	}
	if !argv[0].known {
		n.deny("the program is unknown")
		return sameFlow(state{})
	}
	rule := j.applyCommandRules(n, argv)
	c := &command{name: argv[0].text, args: argv[1:], st: st, rule: rule || j.anyCommand}
	if dir, base := path.Split(c.name); dir != "" {
		p, ok := programs[base]
		if !slices.Contains(systemFolders, dir) && (!ok || p.class != guarded) {
			j.softDeny(n, c, "a program by its path, which may be anything")
			return sameFlow(st)
		}
		c.name = base
	}
	n.program = c.name
	p, ok := programs[c.name]
	if !ok || strings.Contains(c.name, " ") {
		j.softDeny(n, c, "unknown program "+c.name+": it is not on the list; a rule such as Bash("+c.name+":*) can allow it")
		return sameFlow(st)
	}
	out := j.judgeProgram(n, p, c)
	if p.builds || p.sub || argv[0].text != c.name { // an option such as make -C is the tool's own, and /bin/cd changes nothing
		return sameFlow(st)
	}
	return out
}

// softDeny sets the effect for unknown commands, unless a rule allows this one.
func (j *judgement) softDeny(n *Node, c *command, reason string) {
	if c.rule {
		n.allow("a rule allows it")
		return
	}
	j.setUnknown(n, reason)
}

// judgeProgram judges a command of a known program.
func (j *judgement) judgeProgram(n *Node, p *program, c *command) flow {
	switch {
	case p.class == guarded:
		n.deny(p.why)
		return sameFlow(c.st)
	case asksVersion(p, c):
		n.allow("it prints its version")
		return sameFlow(c.st)
	case p.class == opaque:
		j.softDeny(n, c, p.why)
		return sameFlow(c.st)
	case p.judge != nil:
		if p.builds {
			j.judgeBuild(n, c)
		}
		p.judge(j, n, c)
		n.allow(p.reason())
		if after := j.after; after != nil {
			j.after = nil
			return *after
		}
		return sameFlow(c.st)
	case p.sub:
		return j.judgeSubcommand(n, c)
	case p.args == textOnly:
		n.allow(p.reason())
		return sameFlow(c.st)
	}
	got := j.parse(n, c)
	if p.builds {
		j.judgeBuild(n, c)
		j.noteInstalled(c, got.operands)
	}
	j.judgeOperands(n, c, got)
	n.allow(p.reason())
	return sameFlow(c.st)
}

// asksVersion reports whether a tool that runs code of the workspace only prints its version.
// Files of a clone name the yarn, pnpm, cargo or go that runs: .yarnrc, package.json,
// rust-toolchain.toml, go.mod.
func asksVersion(p *program, c *command) bool {
	if !p.builds && !p.sub || len(c.args) != 1 || !c.args[0].known {
		return false
	}
	switch tool, _, _ := strings.Cut(c.name, " "); tool {
	case "node", "npm":
		return c.args[0].text == "--version" || c.args[0].text == "-v"
	case "python", "python3", "pip", "pip3":
		return c.args[0].text == "--version" || c.args[0].text == "-V"
	}
	return false
}

// judgeSubcommand judges a command of a program whose first operand is a subcommand.
func (j *judgement) judgeSubcommand(n *Node, c *command) flow {
	got := j.parse(n, c)
	if len(got.operands) == 0 { // yarn and bundle install, mix runs the project
		j.judgeBuild(n, c)
		n.allow("mode implementation runs the code of the workspace")
		return sameFlow(c.st)
	}
	first := got.operands[0]
	p := programs[c.name+" "+first.text]
	if inner := programs[first.text]; p == nil && inner != nil && inner.builds && inner.judge == nil && (c.name == "yarn" || c.name == "pnpm") {
		return j.judgeProgram(n, inner, &command{first.text, got.operands[1:], c.st, c.rule}) // of a package
	}
	if !first.known || p == nil {
		j.softDeny(n, c, "unknown "+c.name+" command "+first.src+": it is not on the list")
		return sameFlow(c.st)
	}
	return j.judgeProgram(n, p, &command{c.name + " " + first.text, got.operands[1:], c.st, c.rule})
}

// folderOptions are the options of tools for code of the workspace with the folder in
// which they run.
var folderOptions = []string{"-C", "--directory", "--prefix", "--dir", "--cwd"}

// parse splits the words of a command by the table of its program, and judges the options.
// If a tool changes the folder, the state of the command has it.
func (j *judgement) parse(n *Node, c *command) parsed {
	p := programs[c.name]
	got := p.options.parse(c.args)
	for _, o := range got.options {
		switch o.kind {
		case 0, ':', '?':
		case '^':
			j.judgeUnknownPath(n.addPart(WhatRead, o.name), reads, "a list may name any file")
		case '>':
			j.judgeOperand(n, writes, o.value, c.st)
		case '<':
			j.judgeOperand(n, reads, o.value, c.st)
		case '@':
			j.judgePlace(n, c, o.value)
		case '$':
			j.judgeShText(n, o.value, c.st)
		case '!':
			n.deny("the option " + o.name + " of " + c.name + " " + deniedReason(c.name, o.name))
		default:
			if o.value.src != "" && o.name == o.value.src && p.any {
				if !o.value.known && (j.ConfineReads || j.hasReadRules()) {
					j.judgeUnknownPath(n.addPart(WhatRead, o.name), reads, "the word may become an option with a file")
				}
				continue
			}
			j.softDeny(n, c, unknownOption(o, c.name))
		}
		if o.kind == '>' && slices.Contains(folderOptions, o.name) && (p.builds || p.sub) {
			if c.st.dirs = joinDirs(c.st.dirs, o.value.text); !o.value.known {
				c.st.dirs = nil
			}
		}
	}
	return got
}

// deniedReason returns why an option with the kind ! is denied.
func deniedReason(program, option string) string {
	switch {
	case program == "git push" && !slices.Contains([]string{"--receive-pack", "--exec", "--repo"}, option):
		return "overwrites or removes what others have"
	case option == "--hard":
		return "throws away changes"
	case program == "exec":
		return "makes another program of it; write the command without it"
	case option == "--global", option == "-g" && program != "tar":
		return "writes outside of the workspace"
	}
	return "runs another program, or reaches out of what can be judged"
}

// unknownOption returns the reason against an option that is not in the table.
func unknownOption(o option, program string) string {
	if o.value.src == o.name {
		return "unknown option of " + program + ": " + o.name + " may become one; quotes and -- before it, or ./ in it, keep it a file"
	}
	return "unknown option " + o.name + " of " + program + ": it is not on the list; write the command without it"
}

// judgeBuild judges a command that runs code of the workspace.
func (j *judgement) judgeBuild(n *Node, c *command) {
	if j.modeOrDefault() == Planner {
		j.softDeny(n, c, "a planner runs no code of the workspace")
		return
	}
	for _, d := range c.st.dirs {
		if place, err := resolvePath(d); err != nil || !j.inRoots(place) {
			n.deny("it runs code outside of the workspace: " + d)
		}
		if j.crossesNewLink(d, true) {
			j.softDeny(n, c, newLinkReason)
		}
	}
	if len(c.st.dirs) == 0 {
		n.deny("it runs code, and the folder is unknown")
	}
}

// judgeOperands judges the words of a command that are not options.
func (j *judgement) judgeOperands(n *Node, c *command, got parsed) {
	kind := programs[c.name].args
	if kind == readsAfterFirst && got.mayHold("-e", "-f", "--regexp", "--file", "--from-file", "--files") {
		kind = readsAll
	}
	words := got.operands
	for i, f := range words {
		a := reads
		switch kind {
		case nothing, textOnly:
			continue
		case noOperands:
			j.softDeny(n, c, unlisted("a word after "+c.name, "none"))
			continue
		case places:
			j.judgePlace(n, c, f)
			continue
		case readsAfterFirst:
			if i == 0 && !f.glob && !f.splits { // else it may become several words
				continue
			}
		case writesAll:
			a = writes
		case writesLast:
			a = access(i == len(words)-1)
		case writesSecond:
			a = access(i > 0 || f.splits || f.glob)
		}
		if c.name == "strings" && strings.HasPrefix(f.text+f.prefix, "@") {
			j.softDeny(n, c, "it reads options and names of files from a file: "+f.src)
		}
		if f.known && f.text == "-" && (a == reads || kind == writesSecond) {
			continue
		}
		j.judgeOperand(n, a, f, c.st)
	}
	if kind == readsAfterFirst {
		words = words[min(1, len(words)):]
	}
	if programs[c.name].here && len(words) == 0 && j.ConfineReads {
		j.judgeOperand(n, reads, literalField("."), c.st)
	}
	if kind == readsAll || kind == readsAfterFirst {
		j.judgeBelow(n, c, got, words)
	}
}

// judgeOperand judges a word that names a file.
func (j *judgement) judgeOperand(n *Node, a access, f field, st state) {
	switch {
	case f.pipe:
		n.addPart(a.what(), f.src).allow("a pipe to a command that is judged separately")
	case f.known:
		j.judgePath(n, a, f.text, st.dirs)
	case f.glob && a == writes:
		j.judgeGlobWrite(n, f, st)
	default:
		j.judgeUnknownPath(n.addPart(a.what(), f.src), a, "the file is unknown")
	}
}

// judgeGlobWrite judges a write to the matches of a pattern: the folder before its first
// special character, and the current matches on the disk.
func (j *judgement) judgeGlobWrite(n *Node, f field, st state) {
	p := n.addPart(WhatWrite, f.src)
	matches, ok := globMatches(f, st.dirs)
	if !ok {
		p.deny("a write, and the matches of the pattern are unknown")
		return
	}
	p.allow("what matches")
	dir := cmp.Or(f.globDir(), ".")
	j.judgePath(p, writes, dir, st.dirs)
	p.settleEffects()
	if p.Effect != adapters.EffectAllow {
		return
	}
	j.applyPathRules(p, writes, "")
	if j.makesLinksIn(joinDirs(st.dirs, dir)) {
		j.setUnknown(p, newLinkReason)
	}
	for _, m := range matches {
		j.judgePath(p, writes, m, nil)
	}
}

// globDir returns the folder of a pattern before its first special character, with a slash,
// or "".
func (f *field) globDir() string { return f.prefix[:strings.LastIndexByte(f.prefix, '/')+1] }

// globMatches returns the paths that a pattern matches on the disk, as a shell expands it. It
// reports false if they are unknown.
func globMatches(f field, dirs []string) (at []string, ok bool) {
	if !f.glob {
		return nil, false
	}
	cut := 0 // the begin of the parts with special characters
	for range strings.Count(f.globDir(), "/") {
		cut += strings.IndexByte(f.text[cut:], '/') + 1
	}
	at = joinDirs(dirs, f.globDir())
	for _, part := range splitPath(f.text[cut:]) {
		if part == "." {
			continue
		}
		up, err := path.Match(goGlob(part), "..")
		if up && strings.HasPrefix(part, ".") || err != nil || part == ".." || classInBrackets.MatchString(part) {
			return nil, false
		}
		var next []string
		for _, d := range at {
			place, err := resolvePath(d)
			if err != nil {
				return nil, false
			}
			matches, err := filepath.Glob(escapeGlob(place) + "/" + goGlob(part))
			if next = append(next, matches...); err != nil || len(next) > mostFields {
				return nil, false
			}
		}
		at = slices.DeleteFunc(next, func(m string) bool { // a shell matches hidden names only by a dot
			return strings.HasPrefix(path.Base(m), ".") && !strings.HasPrefix(part, ".")
		})
	}
	return at, true
}

// classInBrackets matches the begin of what Go's patterns do not have: [:alpha:], [=a=], [.a.];
// and of [^a], which dash reads as [a^].
var classInBrackets = regexp.MustCompile(`\[[:=.^]`)

// goGlob converts a shell pattern to Go's syntax.
func goGlob(s string) string { return strings.ReplaceAll(s, "[!", "[^") }

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// applyCommandRules applies the rules to a command. Rules that deny or ask hold for the
// program in any folder, and for git's subcommands after git's own options.
func (j *judgement) applyCommandRules(n *Node, argv []field) bool {
	loose := slices.Clone(argv)
	loose[0].text = path.Base(loose[0].text)
	forms := [][]field{loose}
	if loose[0].text == "git" {
		if _, sub := gitGlobal(loose[1:]); len(sub) > 0 {
			forms = append(forms, append([]field{loose[0]}, sub...))
		}
	}
	return j.applyRules(n, func(r Rule, exact bool) (may, does bool) {
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
