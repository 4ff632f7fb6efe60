package policy

import (
	"path"
	"slices"
	"strings"
)

// gitSettings are the settings of git -c and git config that run no program.
var gitSettings = strings.Fields(`user.name user.email color.* advice.* core.quotepath core.autocrlf core.safecrlf core.eol core.filemode core.ignorecase init.defaultbranch
	commit.gpgsign tag.gpgsign push.default push.autosetupremote pull.rebase pull.ff merge.ff rebase.autosquash rebase.autostash diff.renames diff.colormoved diff.mnemonicprefix
	fetch.prune log.showsignature log.date status.short column.* i18n.*`)

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

var gitHarmlessOptions = strings.Fields("-P --no-pager -p --paginate --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-replace-objects --version -v --no-lazy-fetch")

func judgeGit(j *judgement, n *Node, c *command) flow {
	own, rest := gitGlobal(c.args)
	st := c.st
	for i := 0; i < len(own); i++ {
		switch f := own[i]; {
		case f.text == "-C" && i+1 < len(own):
			i++
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
		return sameFlow(c.st)
	}
	if !rest[0].known {
		n.deny("the git command is unknown")
		return sameFlow(c.st)
	}
	g := &gitCommand{command{rest[0].text, rest[1:], st, c.rule}}
	g.judgeSubcommand(j, n)
	var remotes []string
	if slices.Contains([]string{"push", "pull", "fetch", "remote"}, g.name) {
		for _, f := range g.args {
			remotes = append(remotes, f.text)
		}
	}
	j.judgeRepositories(n, &g.command, g.readsOnly(), remotes)
	return sameFlow(c.st)
}

// gitCommand is a call of a git subcommand.
type gitCommand struct{ command }

// gitReads are the subcommands that change nothing, except with options of
// gitHarmfulOptions.
var gitReads = strings.Fields(`status diff log show blame annotate ls-files ls-tree cat-file rev-parse rev-list describe shortlog name-rev merge-base count-objects
	diff-tree diff-index diff-files for-each-ref show-ref show-branch check-ignore check-attr check-ref-format whatchanged cherry range-diff var version grep`)

// gitWrites are the subcommands that change the repository or its files.
var gitWrites = strings.Fields("add commit push pull fetch stash merge rebase checkout switch restore branch remote tag cherry-pick revert mv rm reset init config notes worktree")

// gitValues are the options that take the next word: long ones for all subcommands, and
// short ones by subcommand. If one is missing here, its value is judged as an option.
var gitValues = strings.Fields(`--message --file --author --date --max-count --since --until --after --before --grep --onto --strategy --strategy-option --cleanup
	--reuse-message --trailer --fixup --squash --depth --deepen --shallow-since --shallow-exclude --refmap --jobs --negotiation-tip --server-option --push-option`)

var gitShort = map[string]string{
	"commit": "mFCt", "merge": "mFsX", "tag": "mF", "stash": "m", "notes": "mF", "log": "nSGL", "show": "nSGL", "checkout": "bB", "switch": "cC",
	"cherry-pick": "m", "revert": "m", "rebase": "xsX", "push": "o", "fetch": "jo", "pull": "josX", "blame": "L", "grep": "efABCm", "shortlog": "n",
}

// gitHarmfulOptions are the options that run a program or leave the repository, each
// with its subcommands ("" for any). Long names may be abbreviated.
var gitHarmfulOptions = map[string]string{
	"--ext-diff": "", "--open-files-in-pager": "", "--upload-pack": "", "--receive-pack": "", "--exec": "", "--extcmd": "", "--output": "", "--no-index": "",
	"--repo": "push", "--template": "init", "--separate-git-dir": "init", "--hard": "reset", "--contents": "blame", "--gpg-sign": "commit merge rebase revert cherry-pick tag",
	"--edit": "commit merge revert cherry-pick config notes tag", "--interactive": "add rebase commit", "--patch": "add checkout restore reset stash commit",
}

func (g *gitCommand) judgeSubcommand(j *judgement, n *Node) {
	switch g.name {
	case "filter-branch", "bisect", "submodule", "difftool", "mergetool", "daemon", "shell", "send-email", "instaweb", "gui", "credential", "hook", "for-each-repo":
		g.judgeRunner(j, n)
		return
	}
	read := g.readsOnly()
	if !read && !slices.Contains(gitWrites, g.name) {
		j.softDeny(n, &g.command, "unknown git command "+g.name+"; it may be an alias")
		return
	}
	if !read {
		j.judgeOperand(n, writes, literalField("."), g.st)
	}
	args := g.judgeWords(j, n)
	g.judgeFiles(j, n, args)
	switch g.name {
	case "push":
		g.judgePush(n, args)
	case "config":
		g.judgeConfig(n, args)
	case "mv", "rm":
		j.judgeOperands(n, writesAll, args, g.st)
	case "init", "worktree":
		for _, a := range args {
			if g.name == "init" || strings.Contains(a.text, "/") || !a.known {
				j.judgeOperand(n, writes, a, g.st)
			}
		}
	}
	if slices.Contains([]string{"push", "pull", "fetch", "remote"}, g.name) {
		g.judgeRemotes(j, n, args)
	}
	if read {
		n.allow("it changes nothing")
	} else {
		g.noteMadeLinks(j, args)
		n.allow("it changes the repository")
	}
}

// readsOnly reports whether the command changes nothing.
func (g *gitCommand) readsOnly() bool { return slices.Contains(gitReads, g.name) || g.onlyLists() }

// onlyLists reports whether a command that could change something only prints it.
func (g *gitCommand) onlyLists() bool {
	first := ""
	if len(g.args) > 0 {
		first = g.args[0].text
	}
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
	case "stash":
		return first == "list" || first == "show"
	case "worktree", "notes", "reflog":
		return first == "list" || first == "show"
	case "config":
		return slices.Contains([]string{"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"}, first)
	}
	return false
}

// judgeWords judges the options of the command and returns its other words.
func (g *gitCommand) judgeWords(j *judgement, n *Node) (out []field) {
	for i := 0; i < len(g.args); i++ {
		f := g.args[i]
		switch {
		case f.known && f.text == "--":
			return append(out, g.args[i+1:]...)
		case !f.known && f.mayBeOption():
			n.deny("it may be an option: " + f.src)
		case !f.known || len(f.text) < 2 || f.text[0] != '-':
			out = append(out, f)
		default:
			g.judgeOption(j, n, f.text)
			if g.takesValue(f.text) && i+1 < len(g.args) {
				v := g.args[i+1]
				if v.splits || v.glob {
					n.deny("unknown words may follow " + f.text)
				}
				if !v.known || !strings.HasPrefix(v.text, "-") {
					i++ // else it may be an option, and is judged as one
				}
				if f.text == "--exec" || g.name == "rebase" && f.text == "-x" {
					g.judgeScript(j, n, v)
				}
			}
		}
	}
	return out
}

// takesValue reports whether the next word is the value of the option.
func (g *gitCommand) takesValue(o string) bool {
	if strings.HasPrefix(o, "--") {
		return slices.Contains(gitValues, o) || g.name == "rebase" && o == "--exec"
	}
	// The last letter of a cluster: -am.
	return strings.Contains(gitShort[g.name], o[len(o)-1:]) && (len(o) == 2 || g.name == "commit")
}

// judgeOption judges one option.
func (g *gitCommand) judgeOption(j *judgement, n *Node, o string) {
	name, value, has := strings.Cut(o, "=")
	if strings.HasPrefix(o, "--") {
		if g.name == "rebase" && name == "--exec" {
			if has {
				g.judgeScript(j, n, literalField(value))
			}
			return
		}
		for _, wrong := range sortedKeys(gitHarmfulOptions) {
			only := gitHarmfulOptions[wrong]
			full := name == wrong
			short := len(name) > 2 && strings.HasPrefix(wrong, name) && name != "--no"
			if (full || short) && (only == "" || slices.Contains(strings.Fields(only), g.name)) {
				n.deny("the option " + o + " runs a program, leaves the repository, or throws away changes")
			}
		}
		return
	}
	switch {
	case g.name == "grep" && strings.Contains(o, "O"):
		n.deny("the option -O runs a program")
	case strings.ContainsAny(o, "ip") && !g.onlyLists() && slices.Contains([]string{"add", "rebase", "checkout", "restore", "reset", "stash"}, g.name):
		n.deny("the option " + o + " asks on a terminal, or starts an editor")
	case g.name == "commit" && strings.ContainsAny(textBefore(o, "mFC"), "eptSic"):
		n.deny("the option " + o + " starts another program, or asks on a terminal")
	case g.name == "rebase" && strings.HasPrefix(o, "-x") && len(o) > 2:
		g.judgeScript(j, n, literalField(o[2:]))
	}
}

// textBefore returns the text before the first of these characters.
func textBefore(s, chars string) string {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i]
	}
	return s
}

func sortedKeys(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// judgeScript judges a text that git passes to a shell.
func (g *gitCommand) judgeScript(j *judgement, n *Node, f field) {
	if !f.known {
		n.deny("the script that git runs is unknown")
		return
	}
	st := g.st
	st.funcs, st.piped = nil, true
	j.judgeShText(n, f.text, st)
}

// judgeRunner judges subcommands that run other programs.
func (g *gitCommand) judgeRunner(j *judgement, n *Node) {
	first := ""
	if len(g.args) > 0 {
		first = g.args[0].text
	}
	switch {
	case g.name == "bisect" && first == "run":
		j.judgeInner(n, &g.command, parsed{}, g.args[1:])
	case g.name == "submodule" && first == "foreach" && len(g.args) > 1:
		for _, a := range g.args[1:] {
			if !a.known || strings.HasPrefix(a.text, "-") && a.text != "--recursive" {
				n.deny("the script that git runs is unknown")
			}
		}
		rest := g.args[1:]
		if rest[0].text == "--recursive" {
			rest = rest[1:]
		}
		if len(rest) != 1 {
			n.deny("the script is unknown, because git joins the words")
			return
		}
		g.st = g.st.inUnknownDir()
		g.judgeScript(j, n, rest[0])
	case g.name == "submodule" && (first == "status" || first == "summary" || first == ""), g.name == "bisect" && (first == "log" || first == "view"):
		n.allow("it changes nothing")
	default:
		j.softDeny(n, &g.command, "git "+g.name+" runs other programs")
	}
}

// judgeRemotes judges the words that may be a remote. The name of a remote is the user's
// choice, because only the settings of the repository say where it is. An address is
// that of the command, as for curl.
func (g *gitCommand) judgeRemotes(j *judgement, n *Node, args []field) {
	for i, a := range args {
		text, first := a.text+a.prefix, i == 0 || g.name == "remote" // the others are refs
		switch {
		case strings.Contains(text, "::"):
			n.deny("an address that runs a program: " + a.src)
		case strings.Contains(text, "://"), first && strings.Contains(text, ":"):
			j.softDeny(n, &g.command, "it reaches an address that the command names: "+a.src)
		case first && !a.known:
			j.softDeny(n, &g.command, "the remote is unknown: "+a.src)
		case first && (strings.Contains(text, "/") || strings.Trim(text, ".") == ""):
			j.judgeOperand(n, access(g.name == "push" || g.name == "remote"), a, g.st)
		}
	}
}

// judgePush denies a push that overwrites or removes something on the remote.
func (g *gitCommand) judgePush(n *Node, refs []field) {
	for _, f := range g.args {
		long := strings.HasPrefix(f.text, "--")
		name, _, _ := strings.Cut(f.text, "=")
		switch {
		case !f.known:
		case long && len(name) > 2 && slices.ContainsFunc([]string{"--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "--prune"},
			func(w string) bool { return strings.HasPrefix(w, name) || name == w }):
			n.deny("it overwrites or removes what others have")
		case !long && strings.HasPrefix(f.text, "-") && strings.ContainsAny(f.text, "fd"):
			n.deny("it overwrites or removes what others have")
		}
	}
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

// baseName returns the last part of a program's path.
func baseName(name string) string { return path.Base(name) }
