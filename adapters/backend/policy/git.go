package policy

import (
	"regexp"
	"slices"
	"strings"
)

// gitSettings are the settings of git -c and git config that run no program.
var gitSettings = listedNames("git settings")

func isPlainSetting(key string) bool { return matchesAny(gitSettings, strings.ToLower(key)) }

// gitGlobal separates git's own options from the subcommand and its words. It stops at
// an unknown word.
func gitGlobal(words []field) (own, rest []field) {
	for i := 0; i < len(words); i++ {
		f := words[i]
		if !f.known || !strings.HasPrefix(f.text, "-") {
			return words[:i], words[i:]
		}
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"}, f.text) {
			i++
		}
	}
	return words, nil
}

var gitHarmlessOptions = listedNames("git options")

// signatureFormat matches the parts of a format for which git verifies a signature.
var signatureFormat = regexp.MustCompile(`%[-+ ]?G|%\(\*?signature\b`)

func judgeGit(j *judgement, n *Node, c *command) {
	own, rest := gitGlobal(c.args)
	st := c.st
	for i := 0; i < len(own); i++ {
		switch f := own[i]; {
		case f.text == "-C" && i+1 < len(own):
			i++
			if own[i].splits || own[i].glob {
				n.deny("the git command is unknown")
			}
			if own[i].known && own[i].text != "" {
				st.dirs = joinDirs(st.dirs, own[i].text)
			} else {
				st.dirs = nil
			}
		case f.text == "-c" && i+1 < len(own):
			i++
			key, value, _ := strings.Cut(own[i].text, "=")
			pager := strings.EqualFold(key, "core.pager") && value == "cat"
			if !own[i].known || !isPlainSetting(key) && !pager {
				n.deny("a setting that may run a program: " + own[i].src)
			}
		case slices.Contains(gitHarmlessOptions, f.text):
		default:
			n.deny("an option of git that changes what runs, or where: " + f.src)
		}
	}
	if len(rest) == 0 {
		n.allow("it prints")
		return
	}
	if !rest[0].known {
		n.deny("the git command is unknown")
		return
	}
	if j.ConfineReads {
		top := st
		top.dirs = slices.Concat(st.dirs, repositoryTops(st.dirs))
		j.judgeOperand(n, reads, literalField("."), top)
	}
	g := &gitCommand{command{rest[0].text, rest[1:], st, c.rule}}
	var remotes []string
	if g.takesRemote() {
		for _, f := range g.args {
			remotes = append(remotes, f.text)
		}
	}
	j.judgeRepositories(n, &g.command, remotes) // before those that the command makes
	g.judgeSubcommand(j, n)
}

// gitCommand is a call of a git subcommand.
type gitCommand struct{ command }

func (g *gitCommand) judgeSubcommand(j *judgement, n *Node) {
	name := g.listed()
	if programs[name] == nil {
		j.softDeny(n, &g.command, "unknown git command "+g.name+" "+g.first()+": it is not on the list, and it may be an alias")
		return
	}
	if p := programs[name]; p.class == guarded {
		n.deny(p.why)
		return
	} else if p.class == opaque {
		j.softDeny(n, &g.command, p.why)
		return
	}
	read := g.readsOnly()
	if !read {
		place := g.st
		if tops := repositoryTops(g.st.dirs); slices.ContainsFunc(tops, j.inRoots) || len(tops) > 0 && g.changesTree() { // it may change files of the whole repository
			place.dirs = tops
		}
		j.judgeOperand(n, writes, literalField("."), place)
	}
	c := &command{name, g.args, g.st, g.rule}
	if g.name == "rebase" { // --exec runs at the top, on files of other commits
		c.st.dirs = repositoryTops(g.st.dirs)
		j.noteCheckout(c.st.dirs)
	}
	got := j.parse(n, c)
	args := got.operands
	for _, o := range got.options {
		if o.name == "--format" || o.name == "--pretty" {
			if !o.value.known {
				j.softDeny(n, c, "the format is unknown: "+o.value.src)
			} else if m := signatureFormat.FindString(o.value.text); m != "" {
				j.softDeny(n, c, "the format "+m+" runs gpg, which writes in its own folder")
			}
		}
	}
	for other := range programs {
		sub, ok := strings.CutPrefix(other, "git "+g.name+" ")
		if ok && len(args) > 0 && sub != g.first() && (!args[0].known || args[0].text == sub) && name == "git "+g.name {
			j.softDeny(n, c, unlisted("a word that may be "+sub, "the subcommand behind "+g.name))
			break
		}
	}
	g.judgeFiles(j, n, args)
	switch g.name {
	case "diff":
		g.judgeCompared(j, n, got)
	case "push":
		g.judgePush(n, args)
	case "config":
		g.judgeConfig(n, args)
	case "mv", "rm":
		g.judgePathspecs(j, n, args)
		j.judgeOperands(n, c, parsed{operands: args})
		j.judgeRenamed(n, c, args)
		for _, a := range args {
			if g.name == "rm" && !got.hasOption("--cached") {
				j.denyRemovingRoots(n, a, g.st)
			}
		}
	case "checkout", "restore", "stash": // a word of checkout may be a file; git follows no link there
		g.judgePathspecs(j, n, args)
		if g.name == "stash" && !read && j.hasReadRules() && got.mayHold("-a", "-u", "--all", "--include-untracked") {
			for _, d := range repositoryTops(g.st.dirs) { // git tracks what is there
				j.judgeTree(n, d, true, false)
			}
		}
		for _, a := range args {
			if !a.known {
				j.softDeny(n, &g.command, "the file or the branch is unknown: "+a.src)
			}
			for _, d := range joinDirs(g.st.dirs, a.text) {
				if place, err := resolvePath(d); err != nil {
					n.deny("the path cannot be resolved: " + err.Error())
				} else if a.known && !read {
					j.judgeResolved(n.addPart(WhatWrite, a.src), writes, place)
				}
			}
		}
	case "add":
		j.tracks = true
	case "init", "worktree":
		for _, a := range args {
			j.judgeOperand(n, access(!read), a, g.st)
		}
		if g.first() == "add" && j.hasReadRules() {
			g.judgeTracked(j, n, nil) // a worktree has them in another folder
		}
	}
	j.tracks = j.tracks || g.name == "stash"
	if g.takesRemote() {
		g.judgeRemotes(j, n, args)
	}
	if read {
		n.allow("it changes nothing")
	} else {
		g.noteMadeLinks(j, args)
		n.allow("it changes the repository")
	}
}

// judgePathspecs judges the words that name files which git writes or removes. A pattern may
// name a file that steers a runtime.
func (g *gitCommand) judgePathspecs(j *judgement, n *Node, args []field) {
	for _, a := range args {
		if strings.ContainsAny(a.text, `*?[\`) || strings.HasPrefix(a.text, ":") {
			j.softDeny(n, &g.command, unlisted("a pattern of git", "the names of the files"))
		}
	}
}

// listed returns the name of the line in programs.txt that the command has, if any.
func (g *gitCommand) listed() string {
	name := "git " + g.name
	if two := name + " " + g.first(); programs[two] != nil {
		return two
	}
	return name
}

// takesRemote reports whether a word of the command may be a remote.
func (g *gitCommand) takesRemote() bool {
	return slices.Contains([]string{"push", "pull", "fetch", "remote"}, g.name)
}

// first returns the first word, or "".
func (g *gitCommand) first() string {
	if len(g.args) == 0 {
		return ""
	}
	return g.args[0].text
}

// readsOnly reports whether the command changes nothing.
func (g *gitCommand) readsOnly() bool {
	p := programs[g.listed()]
	return p != nil && p.read || g.onlyLists()
}

// onlyLists reports whether a command that could change something only prints it.
func (g *gitCommand) onlyLists() bool {
	first := g.first()
	words := func(of ...string) bool {
		return !slices.ContainsFunc(g.args, func(f field) bool { return !f.known || !slices.Contains(of, f.text) })
	}
	switch g.name {
	case "branch":
		return words("-a", "-r", "-v", "-vv", "--list", "--all", "--remotes", "--show-current", "--verbose")
	case "tag":
		return words("-l", "--list", "-n")
	case "remote":
		return words("-v", "--verbose") || first == "get-url"
	case "config":
		if slices.ContainsFunc(g.args, func(f field) bool { return f.text == "--add" || f.text == "--replace-all" }) {
			return false
		}
		return len(g.args) == 1 && g.args[0].known && strings.Contains(first, ".") && !strings.HasPrefix(first, "-") || slices.Contains([]string{"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"}, first)
	}
	return false
}

// judgeRemotes judges the words that may be a remote. The name of a remote is the user's
// choice, because only the settings of the repository say where it is. An address is
// that of the command, as for curl.
func (g *gitCommand) judgeRemotes(j *judgement, n *Node, args []field) {
	st := g.st // git reads a path from the top of the repository
	st.dirs = slices.Concat(st.dirs, repositoryTops(st.dirs))
	for i, a := range args {
		text, first := a.text+a.prefix, i == 0 || g.name == "remote" // the others are refs
		switch {
		case strings.Contains(text, "::"):
			n.deny("an address that runs a program: " + a.src)
		case strings.Contains(text, "://"), first && strings.Contains(text, ":"):
			j.softDeny(n, &g.command, "it reaches an address that the command names: "+a.src)
		case first && !a.known:
			j.softDeny(n, &g.command, "the remote is unknown: "+a.src)
		case first && (strings.Contains(text, "/") || strings.Trim(text, ".") == "" || slices.ContainsFunc(joinDirs(st.dirs, text), exists)):
			j.judgeOperand(n, access(g.name == "push" || g.name == "remote"), a, st)
		}
	}
}

// judgePush denies a push that overwrites or removes something on the remote.
func (g *gitCommand) judgePush(n *Node, refs []field) {
	for _, f := range refs {
		switch t := f.text + f.prefix; {
		case strings.HasPrefix(t, "+"), strings.HasPrefix(t, ":") && t != ":":
			n.deny("it overwrites or removes what others have")
		case !f.known && f.prefix == "":
			n.deny("the pushed ref is unknown")
		}
	}
}

// judgeConfig allows to write only settings of this repository that run no program.
func (g *gitCommand) judgeConfig(n *Node, words []field) {
	if g.onlyLists() || len(words) == 1 && words[0].known && len(g.args) == 1 {
		return
	}
	if len(words) > 0 && words[0].text == "set" {
		words = words[1:]
	}
	for _, a := range g.args {
		if strings.HasPrefix(a.text, "-") && a.text != "--local" && a.text != "--add" && a.text != "--replace-all" && a.text != "--bool" {
			n.deny("settings that are not this repository's alone, or removed")
			return
		}
	}
	if len(words) == 0 || !words[0].known || !isPlainSetting(words[0].text) {
		n.deny("a setting that may run a program")
	}
}
