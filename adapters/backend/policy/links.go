package policy

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// newLink is a place at or below which a part of the command may make a symlink. A path
// that crosses it leads elsewhere by the time a later part runs.
type newLink struct {
	place string   // resolved
	sure  bool     // a link is there; else it may come from an archive or a repository
	from  []string // resolved; the folders of a git command, which it does not replace
}

// mostCopied is the limit of files that are looked at in a folder that is copied.
const mostCopied = 2000

// noteLinks remembers that a symlink may be made at or below a path.
func (j *judgement) noteLinks(dirs []string, name string, sure bool) {
	for _, place := range resolveIn(dirs, name) {
		j.newLinks = append(j.newLinks, newLink{place: place, sure: sure})
		j.newTrees = append(j.newTrees, newLink{place: place})
	}
	if len(dirs) == 0 {
		j.noteCheckout(nil)
	}
}

// noteCheckout remembers that a symlink may be made anywhere in the workspace by a command
// that runs in one of the folders.
func (j *judgement) noteCheckout(dirs []string) {
	var from []string
	for _, d := range dirs {
		if place, err := resolvePath(d); err == nil && !j.crossesNewLink(d, false) {
			from = append(from, place)
		}
	}
	for _, r := range j.roots {
		j.newLinks = append(j.newLinks, newLink{place: r, from: from})
		j.newTrees = append(j.newTrees, newLink{place: r, from: from})
	}
}

// repositoryFiles are the names that make a folder a repository, if they are in it.
var repositoryFiles = []string{"head", "commondir", "objects", "refs"}

// noteTree remembers that a write at a place may make a repository there. whole is set if
// it may make a folder with files.
func (j *judgement) noteTree(place string, whole bool) {
	if slices.Contains(repositoryFiles, strings.ToLower(filepath.Base(place))) {
		j.newTrees = append(j.newTrees, newLink{place: filepath.Dir(place)})
	}
	if whole {
		j.newTrees = append(j.newTrees, newLink{place: place})
	}
}

// mayFindNewRepository reports whether git in a folder may find a repository that the
// command makes. It looks up to the first folder that has a repository.
func (j *judgement) mayFindNewRepository(dir string) bool {
	for at := dir; at != "/" && !isWholeGitDir(filepath.Join(at, ".git")); at = filepath.Dir(at) {
		for _, t := range j.newTrees {
			passed := slices.ContainsFunc(t.from, func(d string) bool { return isInside(d, at) })
			if isInside(at, t.place) && !passed {
				return true
			}
		}
	}
	return false
}

// crossesNewLink reports whether a path may cross a symlink that the command makes. The
// folders in which the command starts cannot be one. If sure is set, only links that are
// surely made count.
func (j *judgement) crossesNewLink(name string, sure bool) bool {
	if len(j.newLinks) == 0 {
		return false
	}
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		place, err := resolvePath("/" + name[:i])
		if err != nil {
			return true
		}
		if slices.ContainsFunc(j.startDirs, func(d string) bool { return isInside(d, place) }) || slices.Contains(j.roots, place) {
			continue
		}
		for _, l := range j.newLinks {
			passed := slices.ContainsFunc(l.from, func(d string) bool { return isInside(d, place) })
			if (l.sure || !sure) && isInside(place, l.place) && !passed {
				return true
			}
		}
	}
	return false
}

// makesLinksIn reports whether the command may make a symlink in one of the folders.
func (j *judgement) makesLinksIn(dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool {
		place, err := resolvePath(d)
		return slices.ContainsFunc(j.newLinks, func(l newLink) bool { return err != nil || isInside(l.place, place) })
	})
}

// noteCopies remembers the places to which cp, mv and ln may copy or move a symlink.
func (j *judgement) noteCopies(c *command, got parsed) {
	links := got.hasOption("-s", "--symbolic-link")
	switch c.name {
	case "install":
		return // it copies what a link leads to
	case "cp":
		if !links && !got.hasOption("-P", "-d", "-a", "-R", "-r", "-l", "--no-dereference", "--archive", "--recursive", "--link") {
			return
		}
	}
	from, to := copiedFiles(got)
	intoDir := slices.ContainsFunc(joinDirs(c.st.dirs, to.text), isDir) && !got.hasOption("-T", "--no-target-directory")
	for _, f := range from {
		some, sure := j.mayHoldLink(c.st.dirs, f)
		for _, place := range resolveIn(c.st.dirs, to.text) {
			j.noteTree(place, true)
		}
		if !some && !links {
			continue
		}
		name := to.text
		if base := path.Base("/" + f.text); intoDir && f.known && base != "." && base != ".." {
			j.noteLinks(c.st.dirs, name, false) // the folder may be gone by then
			name += "/" + base
		}
		j.noteLinks(c.st.dirs, name, sure || links)
	}
}

// mayHoldLink reports whether a file may be or contain a symlink when the command copies
// it: one on the disk, which is sure, or one that an earlier part of the command makes.
func (j *judgement) mayHoldLink(dirs []string, f field) (some, sure bool) {
	name := f.text
	if !f.known {
		name = f.prefix[:strings.LastIndexByte(f.prefix, '/')+1] + "."
	}
	if len(dirs) == 0 {
		return true, false
	}
	for _, d := range joinDirs(dirs, name) {
		dir, err := resolvePath(filepath.Dir(d)) // d itself may be the link
		place := filepath.Join(dir, filepath.Base(d))
		if err != nil || holdsLink(place) {
			return true, true
		}
		for _, l := range j.newLinks {
			if isInside(l.place, place) || isInside(place, l.place) {
				some, sure = true, sure || l.sure
			}
		}
	}
	return some, sure
}

// holdsLink reports whether a file is a symlink or a folder that contains one. A folder
// that is too large may contain one.
func holdsLink(place string) bool {
	n, errFound := 0, errors.New("found")
	return filepath.WalkDir(place, func(_ string, d fs.DirEntry, err error) error {
		switch n++; {
		case errors.Is(err, os.ErrNotExist):
			return nil // the command may make it; its links are remembered
		case err != nil, n > mostCopied, d.Type()&fs.ModeSymlink != 0:
			return errFound
		}
		return nil
	}) != nil
}

// noteInstalled remembers the symlinks that tools make by themselves: those of a virtual
// environment to its interpreter, and those of packages to their programs.
func (j *judgement) noteInstalled(c *command, operands []field) {
	switch tool, _, _ := strings.Cut(c.name, " "); tool {
	case "venv":
		for _, f := range operands {
			j.noteLinks(c.st.dirs, f.text, false)
		}
	case "npm", "pnpm", "yarn":
		j.noteLinks(c.st.dirs, "node_modules", false)
	}
}

// noteMadeLinks remembers that a git command may make a symlink in the files of its
// repository.
func (g *gitCommand) noteMadeLinks(j *judgement, args []field) {
	if g.name == "mv" {
		j.noteCopies(&command{"mv", args, g.st, g.rule}, parsed{operands: args})
	}
	if g.changesTree() {
		j.noteCheckout(g.st.dirs)
	}
}

// changesTree reports whether the command may change files that it does not name.
func (g *gitCommand) changesTree() bool {
	got := programs[g.listed()].options.parse(g.args)
	switch g.name {
	case "checkout", "switch": // but not for a branch at the current commit
		return len(got.operands) > 0 || !got.hasOption("-b", "-B", "-c", "-C")
	case "restore":
		return !got.hasOption("--staged", "-S") || got.hasOption("--worktree", "-W")
	case "reset":
		return got.hasOption("--keep", "--merge")
	case "pull", "merge", "rebase", "stash", "cherry-pick", "revert", "worktree":
		return true
	}
	return false
}
