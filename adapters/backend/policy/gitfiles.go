package policy

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
)

// gitNamesOnly are the subcommands whose operands are no files, or whose files they
// neither print nor copy.
var gitNamesOnly = listedNames("git names")

// grepUntracked are the options of git grep that search in files that are not tracked.
var grepUntracked = []string{"--untracked", "--no-exclude-standard"}

// judgeFiles applies the Read rules to the files that a git command names: operands,
// pathspecs, REV:path and the file of -L.
func (g *gitCommand) judgeFiles(j *judgement, n *Node, args []field) {
	if !j.hasReadRules() || slices.Contains(gitNamesOnly, g.name) {
		return
	}
	if got := programs["git grep"].options.parse(g.args); g.name == "grep" && len(args) > 0 && !got.mayHold("-e", "-f") {
		args = args[1:]
	}
	for i, f := range g.args {
		switch {
		case !strings.HasPrefix(f.text+f.prefix, "-"):
		case g.name == "grep" && len(f.text) > 3 && slices.ContainsFunc(grepUntracked, func(o string) bool { return strings.HasPrefix(o, f.text) }):
			j.judgeUnknownPath(n.addPart(WhatRead, f.src), reads, "the file is unknown")
		case f.text == "-L" && i+1 < len(g.args):
			args = append(slices.Clip(args), g.args[i+1])
		case strings.HasPrefix(f.text, "-L"):
			args = append(slices.Clip(args), literalField(f.text[2:]))
		}
	}
	for _, f := range args {
		p := n.addPart(WhatRead, f.src)
		switch {
		case f.glob, f.known && (strings.ContainsAny(f.text, `*?[\`) || strings.HasPrefix(f.text, ":(")):
			j.applyPathspecRules(p, f.text)
		case !f.known:
			j.applyPathRules(p, reads, "")
		default:
			for _, name := range gitNames(f.text) {
				for _, place := range g.places(j, name) {
					j.applyPathRules(p, reads, place)
				}
			}
		}
		p.allow("no rule holds for it")
	}
	if g.printsFiles() {
		g.judgeTracked(j, n, args)
	}
}

// judgeCompared judges the files of git diff that belong to no repository: those outside of
// the workspace, and all with --no-index.
func (g *gitCommand) judgeCompared(j *judgement, n *Node, got parsed) {
	all := got.hasOption("--no-index")
	for _, f := range got.operands {
		if !f.known {
			j.judgeOperand(n, reads, f, g.st)
			continue
		}
		for _, d := range joinDirs(g.st.dirs, f.text) {
			if place, err := resolvePath(d); all || err != nil || exists(place) && !j.inRoots(place) {
				j.judgeOperand(n, reads, f, g.st)
				if j.hasReadRules() {
					j.judgeTree(n, d, true, false)
				}
			}
		}
	}
}

// printsFiles reports whether the command prints the content of files that it does not name.
func (g *gitCommand) printsFiles() bool {
	got := programs[g.listed()].options.parse(g.args)
	patch := got.mayHold("-p", "-u", "-U", "-c", "-L", "--patch", "--unified", "--word-diff", "--color-words", "--cc", "--binary", "--check", "--diff-merges", "--show-current-patch")
	brief := got.hasOption("-s", "--no-patch", "--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--summary", "--dirstat", "--quiet")
	switch g.name {
	case "status", "commit":
		return got.mayHold("-v", "--verbose")
	case "grep":
		return !got.hasOption("-l", "-L", "--files-with-matches", "--files-without-match", "--name-only")
	case "diff", "show", "diff-tree", "diff-index", "diff-files", "range-diff":
		return patch || !brief
	}
	return patch
}

// judgeTracked applies the Read rules to the tracked files that a command prints without
// naming them: all, or those below its operands.
func (g *gitCommand) judgeTracked(j *judgement, n *Node, operands []field) {
	if j.tracks {
		j.judgeUnknownPath(n.addPart(WhatRead, "tracked files"), reads, "an earlier part may make git track it")
	}
	for _, d := range g.st.dirs {
		top := repositoryTop(d)
		b, err := readSmall(filepath.Join(top, ".git", "index"), mostIndex)
		tracked, ok := readIndex(b)
		if err != nil || !ok {
			continue // no repository, or one that judgeRepositories judges
		}
		var below []string
		if i := slices.IndexFunc(g.args, func(f field) bool { return f.text == "--" }); i >= 0 {
			operands = g.args[i+1:] // the others are revisions, also if files have their names
		}
		for _, f := range operands {
			if strings.HasPrefix(f.text, ":") { // the top
				below = nil
				break
			}
			for _, place := range resolveIn([]string{d}, f.text) {
				if f.known && exists(place) {
					below = append(below, place)
				}
			}
		}
		p := n.addPart(WhatRead, "tracked files of "+top)
		p.allow("no rule holds for them")
		for _, name := range slices.Sorted(maps.Keys(tracked)) {
			place := filepath.Join(top, name)
			if len(below) > 0 && !slices.ContainsFunc(below, func(b string) bool { return isInside(place, b) }) {
				continue
			}
			if j.applyPathRules(p, reads, place); p.own != adapters.EffectAllow {
				p.Reason += ": " + name + " is tracked; name the files or folders without it"
				break
			}
		}
	}
}

// repositoryTop returns the first folder in and above a folder that has a repository or is
// one, or "/".
func repositoryTop(dir string) string {
	top, err := resolvePath(dir)
	for ; err == nil && top != "/" && !exists(filepath.Join(top, ".git")) && !isGitDir(top); top = filepath.Dir(top) {
	}
	return top
}

// repositoryTops returns the tops of the repositories in which git runs in these folders.
func repositoryTops(dirs []string) (out []string) {
	for _, d := range dirs {
		if top := repositoryTop(d); top != "/" {
			out = append(out, top)
		}
	}
	return out
}

// gitNames returns the names of files that an operand may hold: the operand itself, and
// what follows each colon, as in HEAD:file, :0:file, :/file and 1,5:file.
func gitNames(operand string) []string {
	out := []string{operand}
	for rest, ok := operand, true; ok; {
		if _, rest, ok = strings.Cut(rest, ":"); ok && rest != "" {
			out = append(out, rest, strings.TrimLeft(rest, "/"))
		}
	}
	return out
}

// places returns where a file may be: git reads a name relative to the current folder, or
// to that of the repository, which is above.
func (g *gitCommand) places(j *judgement, name string) []string {
	dirs := slices.Clone(j.roots)
	for _, d := range g.st.dirs {
		place, err := resolvePath(d)
		for ; err == nil && j.inRoots(place) && !slices.Contains(dirs, place); place = filepath.Dir(place) {
			dirs = append(dirs, place)
		}
	}
	return resolveIn(dirs, name)
}

// tailOf returns the end of a pattern without special characters, in lower case, or / if there
// is none.
func tailOf(spec string) string {
	return strings.ToLower(path.Base("/" + spec[strings.LastIndexAny(spec, `*?[]\):}`)+1:]))
}

// applyPathspecRules applies the Read rules to a pattern of git. A rule for a file does not
// hold if the name of the file cannot end as the pattern does.
func (j *judgement) applyPathspecRules(n *Node, spec string) {
	tail := tailOf(spec)
	j.applyRules(n, func(r Rule, _ bool) (may, does bool) {
		last := path.Base(r.glob)
		may = tail == "/" || strings.ContainsAny(last, `*?[\`) || strings.HasSuffix(strings.ToLower(last), tail)
		return r.tool == "Read" && r.glob != "" && may, false
	})
}
