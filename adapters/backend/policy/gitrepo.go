package policy

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A git command runs programs that the configuration of its repository names:
// core.fsmonitor and filters with status, textconv with diff, hooks. A clone does not
// bring a configuration of its own, but it may bring a bare repository as a folder, in
// which git then runs. So every repository that a command may reach is read: those in
// and above its folders, their submodules, and local folders that serve as a remote.

// plainGitSettings are the settings of a repository that run no program. The names have
// * instead of a subsection.
var plainGitSettings = append(listedNames("git settings of a repository"), gitSettings...)

// gitRemoteSettings are those that name a remote or a folder. gitUserSettings make commands
// that read fetch objects, or read other files, so the user must have made them.
// gitUnusualFiles are patterns of files that no repository in a clone needs.
var (
	gitRemoteSettings = listedNames("git settings of a remote")
	gitUserSettings   = listedNames("git settings of the user")
	gitUnusualFiles   = listedNames("unusual files of git")
)

// lfsFilters are the values that `git lfs install` sets.
var lfsFilters = map[string]string{
	"filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.smudge": "git-lfs smudge -- %f", "filter.lfs.process": "git-lfs filter-process",
}

// Bounds of what is read of repositories; beyond them a command is not harmless.
const (
	mostConfig       = 1 << 20
	mostIndex        = 64 << 20
	mostRepositories = 64
)

// judgeRepositories judges the repositories that a git command may run in.
func (j *judgement) judgeRepositories(n *Node, c *command, remotes []string) {
	if len(c.st.dirs) == 0 {
		j.softDeny(n, c, "the repository is unknown, and its settings may run a program")
		return
	}
	r := repositoryReader{judgement: j, seen: map[string]bool{}}
	for _, d := range c.st.dirs {
		place, err := resolvePath(d)
		if err != nil {
			r.noteReason(d, err.Error())
			continue
		}
		if j.crossesNewLink(d, true) || j.mayFindNewRepository(place) {
			j.softDeny(n, c, "an earlier part of the command may make a repository there; run git as a separate command")
		}
		r.dirs = append(r.dirs, place, repositoryTop(place))
	}
	for _, d := range r.dirs {
		r.readUpwards(d)
	}
	for _, remote := range remotes {
		r.readRemote(remote)
	}
	if r.why != "" {
		j.softDeny(n, c, r.why)
	}
}

// repositoryReader looks for settings and hooks that run a program.
type repositoryReader struct {
	*judgement
	dirs []string // of the command, and the tops of their repositories
	seen map[string]bool
	why  string // the first reason against the command
}

func (r *repositoryReader) noteReason(place, why string) {
	if r.why == "" {
		r.why = "git may run a program of the repository, or reach another one: " + place + ": " + why
	}
}

// readUpwards reads the repositories that git could find from a folder: those in it and
// in its parents. git stops at the first one, but what it takes for one is complicated,
// so this stops only at a repository that is complete beyond doubt.
func (r *repositoryReader) readUpwards(dir string) {
	for ; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		r.readDotGit(dir)
		r.readNamed(dir, "")
		if info, err := os.Lstat(dotGit); err == nil && info.IsDir() && isWholeGitDir(dotGit) || dir == filepath.Dir(dir) {
			return
		}
	}
}

// readDotGit reads the repository that .git in a folder is, or leads to.
func (r *repositoryReader) readDotGit(dir string) { r.readNamed(dir+"/.git", dir) }

// readNamed reads the repository that a folder is, or to which a file leads.
func (r *repositoryReader) readNamed(name, workTree string) {
	place, err := resolvePath(name)
	if err != nil {
		r.noteReason(name, err.Error())
		return
	}
	if isGitDir(place) {
		r.readRepository(place, workTree)
		return
	}
	text, err := readSmall(place, mostConfig)
	to, ok := strings.CutPrefix(string(text), "gitdir: ")
	if err != nil || !ok {
		return // git fails with such a file
	}
	if to = strings.TrimRight(to, "\r\n"); !filepath.IsAbs(to) {
		to = filepath.Dir(name) + "/" + to
	}
	if to, err = resolvePath(to); err != nil {
		r.noteReason(name, err.Error())
		return
	}
	r.readRepository(to, workTree)
}

// isGitDir reports whether git may take a folder for a repository.
func isGitDir(dir string) bool {
	has := func(name string) bool { return exists(filepath.Join(dir, name)) }
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// isWholeGitDir reports whether git surely takes a folder for a repository.
func isWholeGitDir(dir string) bool {
	head, err := readSmall(filepath.Join(dir, "HEAD"), 1024)
	return err == nil && strings.HasPrefix(string(head), "ref: refs/heads/") &&
		isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs")) && !exists(filepath.Join(dir, "commondir"))
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// readRepository reads a repository: its configuration, its hooks, and its submodules below the
// working tree.
func (r *repositoryReader) readRepository(gitDir, workTree string) {
	if r.seen[gitDir] {
		return
	}
	if r.seen[gitDir] = true; len(r.seen) > mostRepositories {
		r.noteReason(gitDir, "too many repositories")
		return
	}
	common := gitDir
	text, err := readSmall(filepath.Join(gitDir, "commondir"), mostConfig)
	if err == nil {
		if common = strings.TrimRight(string(text), "\r\n"); !filepath.IsAbs(common) {
			common = gitDir + "/" + common
		}
		common, err = resolvePath(common)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.noteReason(gitDir, err.Error())
		return
	}
	_, program := controlFile(r.relToRoot(gitDir))
	repo := gitRepository{dir: gitDir, workTree: workTree, hooks: filepath.Join(common, "hooks"), brought: r.inRoots(gitDir) && program != "git"}
	for _, file := range []string{filepath.Join(common, "config"), filepath.Join(gitDir, "config.worktree")} {
		r.readConfig(&repo, file)
	}
	r.readHooks(&repo)
	r.readSubmodules(&repo)
}

// gitRepository is a repository with the folders that its configuration may change.
type gitRepository struct {
	dir, workTree, hooks string
	brought              bool // it came with the workspace, because it is no folder .git
}

// base returns the folder in which git runs hooks and resolves remotes.
func (repo *gitRepository) base() string { return cmp.Or(repo.workTree, repo.dir) }

// readConfig judges the settings of a configuration file. One that includes another is not
// harmless.
func (r *repositoryReader) readConfig(repo *gitRepository, file string) {
	text, err := readSmall(file, mostConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		r.noteReason(file, err.Error())
		return
	}
	all, err := parseGitConfig(string(text))
	if err != nil {
		r.noteReason(file, err.Error())
		return
	}
	for _, s := range all {
		switch name := s.name(); {
		case name == "core.hookspath":
			var ok bool
			if repo.hooks, ok = r.expandHome(s.value); !ok {
				r.noteReason(file, s.key)
			} else if !filepath.IsAbs(repo.hooks) {
				repo.hooks = repo.base() + "/" + repo.hooks
			}
		case name == "core.worktree":
			if repo.workTree = s.value; !filepath.IsAbs(s.value) {
				repo.workTree = repo.dir + "/" + s.value
			}
			if place, err := resolvePath(repo.workTree); err != nil || !r.inRoots(place) {
				r.noteReason(file, s.key)
			}
		case slices.Contains(gitRemoteSettings, name):
			r.readRemote(s.value, repo.base())
		case !repo.brought && slices.Contains(gitUserSettings, name):
		case name == "core.fsmonitor" && slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "1", "0"}, strings.ToLower(s.value)):
		case name == "core.pager" && (s.value == "cat" || s.value == ""), name == "merge.*.driver" && s.value == "true":
		case lfsFilters[s.key] != "" && lfsFilters[s.key] == s.value:
		case !matchesAny(plainGitSettings, name):
			r.noteReason(file, s.key)
		}
	}
}

// readHooks judges the hooks of a repository. Those of a .git folder, which agents cannot
// write, are the user's, except the one that commands run which only read. Those of any other
// folder in the workspace came with it, and so did what leads to other repositories or holds
// the commands of a rebase.
func (r *repositoryReader) readHooks(repo *gitRepository) {
	if repo.brought {
		for _, pattern := range gitUnusualFiles {
			if found, _ := filepath.Glob(escapeGlob(repo.dir) + "/" + pattern); len(found) > 0 {
				r.noteReason(found[0], "it names other repositories or commands")
			}
		}
		if holdsLink(repo.dir) {
			r.noteReason(repo.dir, "it holds a link")
		}
	}
	hooks, err := resolvePath(repo.hooks)
	if err != nil {
		r.noteReason(repo.hooks, err.Error())
		return
	}
	entries, err := os.ReadDir(hooks)
	if err != nil {
		return // no hooks
	}
	for _, e := range entries {
		if e.Name() == "post-index-change" || repo.brought && !strings.HasSuffix(e.Name(), ".sample") {
			r.noteReason(hooks, "the hook "+e.Name())
		}
	}
}

// readSubmodules reads the repositories that the index of a repository refers to.
func (r *repositoryReader) readSubmodules(repo *gitRepository) {
	files, _ := filepath.Glob(escapeGlob(repo.dir) + "/sharedindex.*")
	for _, file := range append(files, filepath.Join(repo.dir, "index")) {
		b, err := readSmall(file, mostIndex)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		tracked, ok := readIndex(b)
		if err != nil || !ok {
			r.noteReason(file, "it cannot be read")
			continue
		}
		for _, l := range slices.Sorted(maps.Keys(tracked)) {
			if tracked[l] {
				r.readDotGit(repo.base() + "/" + l)
			}
		}
	}
}

// readRemote reads a remote that is a folder, or a file that leads to one: git runs in it, with its
// hooks. git resolves its path from the folder of the command or from that of the repository.
func (r *repositoryReader) readRemote(url string, repository ...string) {
	if strings.Contains(url, "::") {
		r.noteReason(url, "an address that runs a program")
		return
	}
	url = strings.TrimPrefix(url, "file://")
	if url == "" || strings.Contains(url, "://") {
		return
	}
	for _, name := range joinDirs(slices.Concat(r.dirs, repository), url) {
		for _, name := range []string{name, name + ".git"} {
			r.readNamed(name, "")
			r.readDotGit(name)
		}
	}
}

// readSmall reads a regular file of at most so many bytes.
func readSmall(name string, most int64) ([]byte, error) {
	place, err := resolvePath(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(place)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is not a file, or too long", name)
	}
	return os.ReadFile(place)
}

// readIndex returns the paths in an index (gitformat-index, versions 2 and 3 with SHA-1), and
// whether each is a submodule. It reports false if the index cannot be read.
func readIndex(b []byte) (out map[string]bool, ok bool) {
	const fixed = 62 // bytes before the name
	if len(b) < 12 || string(b[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version != 2 && version != 3 {
		return nil, false
	}
	out, b = map[string]bool{}, b[12:]
	for range count {
		if len(b) < fixed+2 {
			return nil, false
		}
		mode, flags, at := binary.BigEndian.Uint32(b[24:]), binary.BigEndian.Uint16(b[fixed-2:]), fixed
		if flags&0x4000 != 0 && version == 3 {
			at += 2
		}
		length := bytes.IndexByte(b[at:], 0)
		next := (at + length + 8) / 8 * 8
		kind := mode >> 12 // a folder of a sparse index, a file, a symlink, a submodule
		if length < 0 || next > len(b) || int(flags&0xfff) != min(length, 0xfff) || !slices.Contains([]uint32{0o4, 0o10, 0o12, 0o16}, kind) {
			return nil, false
		}
		out[string(b[at:at+length])] = kind == 0o16
		b = b[next:]
	}
	return out, len(b) >= 20
}
