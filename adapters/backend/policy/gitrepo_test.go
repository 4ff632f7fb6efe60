package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// hostGit runs git to lay out a repository, without the user's settings.
func hostGit(tb testing.TB, dir string, args ...string) {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a"}
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func writeFile(tb testing.TB, dir, name, text string) {
	tb.Helper()
	file, mode := filepath.Join(dir, name), os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	must(tb, os.MkdirAll(filepath.Dir(file), 0o755))
	must(tb, os.RemoveAll(file))
	must(tb, os.WriteFile(file, []byte(text), mode))
}

// layBareRepository makes docs/x, a bare repository that has the workspace as its work
// tree, with one commit and a changed file. A clone can bring such a folder.
func layBareRepository(tb testing.TB, work, config string) {
	tb.Helper()
	must(tb, os.MkdirAll(filepath.Join(work, "docs"), 0o755))
	hostGit(tb, work, "init", "-q", "--bare", "-b", "main", "--template=", "docs/x")
	hostGit(tb, work, "--git-dir=docs/x", "--work-tree=.", "add", "a.txt")
	hostGit(tb, work, "--git-dir=docs/x", "--work-tree=.", "commit", "-qm", "x")
	writeFile(tb, work, "docs/x/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../..\n"+config)
	writeFile(tb, work, "a.txt", "changed\n")
}

// layRepository makes the workspace a repository with one commit.
func layRepository(tb testing.TB, work, config string) {
	tb.Helper()
	must(tb, os.RemoveAll(filepath.Join(work, ".git")))
	hostGit(tb, work, "init", "-q", "-b", "main", "--template=", ".")
	hostGit(tb, work, "add", "a.txt")
	hostGit(tb, work, "commit", "-qm", "x")
	writeFile(tb, work, ".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"+config)
	writeFile(tb, work, "a.txt", "changed\n")
}

// TestRepositoriesThatRunPrograms: git runs programs that the configuration of a
// repository names. No command that would run one is allowed as harmless, and the same
// command is allowed in a repository without such settings. The cell shows that git does
// run the program, where that needs neither a terminal nor a network.
func TestRepositoriesThatRunPrograms(t *testing.T) {
	c := newCell(t)
	if _, err := os.Stat(filepath.Join(c.dir, "bin/git")); err != nil {
		t.Skip("no git here")
	}
	const hook = "#!/bin/dash\nfrob\n"
	for i, x := range []struct {
		name    string
		command string
		lay     func(tb testing.TB, work string)
		runs    bool // git runs frob in the cell
	}{
		{"fsmonitor of a bare folder", "git -C docs/x status", bare("[core]\n\tfsmonitor = frob\n"), true},
		{"fsmonitor after cd", "cd docs/x && git status", bare("[core]\n\tfsmonitor = frob\n"), true},
		{"fsmonitor below the folder", "cd docs/x/refs; git diff", bare("[core] FSMonitor = \"frob\" ; x\n"), true},
		{"fsmonitor in an unknown folder", "for d in docs/*; do (cd $d && git status); done", bare("[core]\n\tfsmonitor = frob\n"), true},
		{"external diff", "git -C docs/x diff", bare("[diff]\n\texternal = frob\n"), true},
		{"text conversion", "git -C docs/x diff", bare("[diff \"x\"]\n\ttextconv = frob\n"), true},
		{"text conversion in the log", "git -C docs/x log -p", bare("[diff.X]\n\ttextconv = frob\n[diff \"x\"]\n\ttextconv = frob\n"), true},
		{"filter", "git -C docs/x diff", bare("[filter \"x\"]\n\tclean = frob\n"), true},
		{"filter process", "git -C docs/x diff", bare("[filter \"x\"]\n\tprocess = frob\n"), true},
		{"not the filter of git-lfs", "git -C docs/x status", bare("[filter \"lfs\"]\n\tclean = frob\n"), false},
		{"included settings", "git -C docs/x status", bare("[include]\n\tpath = ../more\n"), true},
		{"included by a condition", "git -C docs/x status", bare("[includeIf \"gitdir:**\"]\n\tpath = ../more\n"), true},
		{"settings of a work tree", "git -C docs/x status", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "[extensions]\n\tworktreeConfig = true\n")
			writeFile(tb, work, "docs/x/config.worktree", "[core]\n\tfsmonitor = frob\n\tworktree = ../..\n")
		}, true},
		{"hook after an update of the index", "git -C docs/x status", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "")
			writeFile(tb, work, "a.txt", "a\nsudo\n") // as in the index, with another time
			writeFile(tb, work, "docs/x/hooks/post-index-change", hook)
		}, true},
		{"hooks elsewhere", "git -C docs/x status", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "[core]\n\thooksPath = docs/hooks\n")
			writeFile(tb, work, "a.txt", "a\nsudo\n")
			writeFile(tb, work, "docs/hooks/post-index-change", hook)
		}, true},
		{"hook of a commit in a bare folder", "git -C sub commit -qm x", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "[user]\n\tname = a\n\temail = a\n")
			writeFile(tb, work, "docs/x/hooks/pre-commit", hook)
			writeFile(tb, work, "sub/.git", "gitdir: ../docs/x\n")
		}, true},
		{"commands of a rebase in a bare folder", "git -C docs/x rebase --continue", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "")
			writeFile(tb, work, "docs/x/rebase-merge/git-rebase-todo", "exec frob\n")
		}, false},
		{"a cherry-pick in a bare folder", "git -C docs/x cherry-pick --continue", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "")
			writeFile(tb, work, "docs/x/sequencer/opts", "[options]\n\tstrategy = frob\n")
		}, false},
		{"a file .git that leads to it", "git -C sub status", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "[core]\n\tfsmonitor = frob\n")
			writeFile(tb, work, "sub/.git", "gitdir: ../docs/x\n")
		}, true},
		{"a folder .git", "git status", repo("[core]\n\tfsmonitor = frob\n"), true},
		{"a folder .git, from below", "git -C sub status", repo("[core]\n\tfsmonitor = frob\n"), true},
		{"a submodule", "git status", func(tb testing.TB, work string) {
			tb.Helper()
			layRepository(tb, work, "")
			hostGit(tb, work, "init", "-q", "-b", "main", "--template=", "sub/mod")
			hostGit(tb, work, "-C", "sub/mod", "commit", "-q", "--allow-empty", "-m", "x")
			hostGit(tb, work, "add", "sub/mod")
			writeFile(tb, work, "sub/mod/.git/config", "[core]\n\tfsmonitor = frob\n")
		}, true},
		{"a remote that is a folder", "git push -q docs/x main", func(tb testing.TB, work string) {
			tb.Helper()
			layRepository(tb, work, "")
			layBareRepository(tb, work, "")
			writeFile(tb, work, "docs/x/hooks/pre-receive", hook)
			hostGit(tb, work, "--git-dir=docs/x", "update-ref", "-d", "refs/heads/main")
		}, false}, // git push needs more programs than the cell has
		{"settings behind a link to another folder for each process", "git -C docs/x status", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "[core]\n\tfsmonitor = frob\n")
			must(tb, os.Rename(filepath.Join(work, "docs/x/config"), filepath.Join(work, "docs/x/settings")))
			must(tb, os.Symlink("/proc/self/cwd/settings", filepath.Join(work, "docs/x/config")))
		}, false}, // the cell has no /proc
		{"settings behind a link", "git -C docs/x log -p", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "")
			must(tb, os.Rename(filepath.Join(work, "docs/x/config"), filepath.Join(work, "docs/x/settings")))
			must(tb, os.Symlink("settings", filepath.Join(work, "docs/x/config")))
		}, false},
		{"hooks in another folder for each process", "git -C docs/x status", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "[core]\n\thooksPath = /proc/self/cwd/docs/hooks\n")
			writeFile(tb, work, "a.txt", "a\nsudo\n")
			writeFile(tb, work, "docs/hooks/post-index-change", hook)
		}, false},
		{"a folder by another name for each process", "git -C /proc/self/cwd/docs/x status", bare("[core]\n\tfsmonitor = frob\n"), false},
		{"cd to a folder by another name", "cd /proc/self/cwd/docs/x && git status", bare("[core]\n\tfsmonitor = frob\n"), false},
		{"objects of another repository", "git -C docs/x log -p", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "")
			writeFile(tb, work, "docs/x/objects/info/alternates", "../../../../out/r/objects\n")
		}, false},
		{"another repository", "git -C docs/y log -p --all", func(tb testing.TB, work string) {
			tb.Helper()
			writeFile(tb, work, "docs/y/HEAD", "ref: refs/heads/main\n")
			writeFile(tb, work, "docs/y/commondir", "../../../out/r\n")
		}, false},
		{"objects that are fetched when they are read", "git -C docs/x log -p", bare("[extensions]\n\tpartialClone = origin\n"), false},
		{"a remote that has the missing objects", "git -C docs/x blame a.txt", bare("[remote \"origin\"]\n\turl = ../y\n\tpromisor = true\n"), false},
		{"a hook that a fetch of missing objects runs", "git -C docs/x show", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "")
			writeFile(tb, work, "docs/x/hooks/pre-auto-gc", hook)
		}, false},
		{"a hook for the objects of a cleanup", "git -C docs/x commit -m x", bare("[gc]\n\trecentObjectsHook = frob\n"), false},
		{"lines of the list of a rebase", "git -C docs/x rebase side", bare("[rebase]\n\tinstructionFormat = \"%s%nexec frob\"\n"), false}, // the cell has no /dev/urandom for new commits
		{"the remote of each push", "git -C docs/x push", bareWithReceiver("[remote]\n\tpushDefault = ../y\n"), false},
		{"the remote of a branch", "git -C docs/x push", bareWithReceiver("[branch \"main\"]\n\tremote = ../y\n"), false},
		{"the remote of pushes of a branch", "git -C docs/x push", bareWithReceiver("[branch \"main\"]\n\tpushRemote = ../y\n"), false},
		{"a remote that is relative to the folder of the command", "git -C docs/x/refs push origin main", bareWithReceiver("[remote \"origin\"]\n\turl = ../../y\n"), false},
		{"a remote in a file", "git -C docs/x push origin main", func(tb testing.TB, work string) {
			tb.Helper()
			layBareRepository(tb, work, "")
			writeFile(tb, work, "docs/x/remotes/origin", "URL: ../y\n")
		}, false},
		{"a remote that is a file", "git push ./docs/to-y main", func(tb testing.TB, work string) {
			tb.Helper()
			layRepository(tb, work, "")
			bareWithReceiver("")(tb, work)
			writeFile(tb, work, "docs/to-y", "gitdir: y\n")
		}, false},
		{"patterns in another file", "git -C docs/x check-ignore -v --no-index root", bare("[core]\n\texcludesFile = /etc/passwd\n"), false},
		{"attributes in another file", "git -C docs/x check-attr -a root", bare("[core]\n\tattributesFile = /etc/passwd\n"), false},
		{"pager", "git -C docs/x log", bare("[core]\n\tpager = frob\n"), false},
		{"pager of a command", "git -C docs/x log", bare("[pager]\n\tlog = frob\n"), false},
		{"ssh", "git -C docs/x fetch", bare("[core]\n\tsshCommand = frob\n"), false},
		{"signatures", "git -C docs/x log", bare("[gpg]\n\tprogram = frob\n[log]\n\tshowSignature = true\n"), false},
		{"a configuration that cannot be parsed", "git -C docs/x status", bare("[core\n\tfsmonitor = frob\n"), false},
	} {
		shows := x.runs && (racesample.Whole() || i%5 == 0) // a cell for each takes seconds
		t.Run(x.name, func(t *testing.T) {
			g := NewWithT(t)
			c.prepare, c.clean = func() {
				writeFile(t, c.work, ".gitattributes", "*.txt diff=x filter=x\n")
				writeFile(t, c.work, "docs/more", "[core]\n\tfsmonitor = frob\n")
				x.lay(t, c.work)
			}, false
			defer func() { c.prepare, c.clean = nil, false }()
			if shows {
				g.Expect(c.runCommand(t, x.command, false)).To(ContainElement("frob was reached"), "the case itself")
			}
			for _, mode := range Modes() {
				c.resetStage(t)
				g.Expect(sound(c.policy(mode), x.command, c.work)).To(Equal(adapters.EffectDeny), "%s", mode)
			}
		})
	}
}

func bare(config string) func(testing.TB, string) {
	return func(tb testing.TB, work string) {
		tb.Helper()
		layBareRepository(tb, work, config)
	}
}

// bareWithReceiver lays a second repository that a push to ../y reaches.
func bareWithReceiver(config string) func(testing.TB, string) {
	return func(tb testing.TB, work string) {
		tb.Helper()
		layBareRepository(tb, work, config)
		hostGit(tb, work, "init", "-q", "--bare", "--template=", "docs/y")
		writeFile(tb, work, "docs/y/hooks/pre-receive", "#!/bin/dash\nfrob\n")
	}
}

func repo(config string) func(testing.TB, string) {
	return func(tb testing.TB, work string) {
		tb.Helper()
		layRepository(tb, work, config)
	}
}

// TestPlainRepositoriesAreHarmless: what git itself and its usual companions write into
// a configuration does not make reading commands unknown.
func TestPlainRepositoriesAreHarmless(t *testing.T) {
	c := newCell(t)
	if _, err := os.Stat(filepath.Join(c.dir, "bin/git")); err != nil {
		t.Skip("no git here")
	}
	for name, config := range map[string]string{
		"a clone": "[core]\n\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = git@github.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
		"git-lfs": "[lfs]\n\trepositoryformatversion = 0\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n",
		"partial": "[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = git@github.com:a/b.git\n\tpromisor = true\n\tpartialclonefilter = blob:none\n",
		"rebase":  "[core]\n\texcludesFile = ~/.gitignore\n[rebase]\n\tautoStash = true\n\tupdateRefs = true\n[gc]\n\tauto = 0\n[fetch]\n\tprune = true\n[remote]\n\tpushDefault = origin\n",
		"husky":   "[core]\n\thooksPath = .husky/_\n",
		"monitor": "[core]\n\tfsmonitor = false\n\tuntrackedCache\n[alias]\n\tst = !frob\n",
		"merge":   "[merge \"ours\"]\n\tdriver = true\n[user]\n\tname = \"A # B\"\n\temail = a@b\n",
	} {
		for _, lay := range []func(string) func(testing.TB, string){bare, repo} {
			t.Run(name, func(t *testing.T) {
				g := NewWithT(t)
				c.prepare, c.clean = func() {
					writeFile(t, c.work, ".husky/_/pre-commit", "#!/bin/dash\nfrob\n")
					lay(config)(t, c.work)
				}, false
				defer func() { c.prepare, c.clean = nil, false }()
				for i, command := range []string{"git status", "git diff", "git log -p", "cd sub && git show", "git -C docs log"} {
					if i > 0 && !racesample.Whole() { // by day only the first one runs
						g.Expect(sound(c.policy(Implementation), command, c.work)).To(Equal(adapters.EffectAllow), "%s", command)
						continue
					}
					allowed, harm := c.tryCommand(t, sound, Implementation, command)
					g.Expect(allowed).To(BeTrue(), "%s", command)
					g.Expect(harm).To(BeEmpty(), "%s", command)
				}
			})
		}
	}
}

// TestReadRulesHoldForTrackedFiles: git prints tracked files without their names.
func TestReadRulesHoldForTrackedFiles(t *testing.T) {
	g := NewWithT(t)
	work := t.TempDir()
	writeFile(t, work, "a.txt", "a\n")
	writeFile(t, work, "src/b.txt", "b\n")
	writeFile(t, work, "sub/.env", "KEY=1\n")
	writeFile(t, work, "main/c.txt", "c\n")
	layRepository(t, work, "")
	rule, err := ParseRule("Read(**/.env)")
	g.Expect(err).NotTo(HaveOccurred())
	p := Policy{Mode: Implementation, Roots: []string{work}, Rules: Rules{Deny: []Rule{rule}}}
	prints := []string{"git diff", "git diff HEAD", "git log -p", "git log -U3 -2", "git show", "git grep KEY", "git -C sub diff", "git diff -- sub", "git show HEAD -- .", "git log -p --stat", "git stash show -p", "git status -v", "git status -vv", "git commit --dry-run -v", "git log --check", "git log -1 --diff-merges=separate", "git diff HEAD -- src :/", "git log -p main --", "git worktree add w", "git worktree add src main"}
	names := []string{"git diff --stat", "git log --oneline", "git grep -l KEY", "git diff -- src", "git diff -- a.txt", "git show --name-only HEAD", "git status", "git grep b src", "git log -p src", "git log -p main -- src", "git commit -m x", "git worktree prune"}
	for _, command := range append(prints, names...) {
		g.Expect(sound(&p, command, work)).To(Equal(adapters.EffectAllow), "%s, with the file not tracked", command)
	}
	hostGit(t, work, "add", "-f", "sub/.env", "src")
	for _, command := range prints {
		g.Expect(sound(&p, command, work)).To(Equal(adapters.EffectDeny), "%s", command)
	}
	for _, command := range names {
		g.Expect(sound(&p, command, work)).To(Equal(adapters.EffectAllow), "%s", command)
	}
}

// TestLargerRepository: git changes and prints files of a whole repository, of which the
// workspace may be a part.
func TestLargerRepository(t *testing.T) {
	g := NewWithT(t)
	top := t.TempDir()
	writeFile(t, top, "a.txt", "a\n")
	writeFile(t, top, "sub/a.txt", "a\n")
	layRepository(t, top, "")
	work := filepath.Join(top, "sub")
	p := Policy{Mode: Implementation, Roots: []string{work}}
	for command, want := range map[string]adapters.Effect{
		"git checkout side": adapters.EffectDeny, "git stash": adapters.EffectDeny, "git reset --keep side": adapters.EffectDeny, "git merge side": adapters.EffectDeny, "git show HEAD:x": adapters.EffectAllow,
		"git checkout -b new": adapters.EffectAllow, "git commit -m x": adapters.EffectAllow, "git reset a.txt": adapters.EffectAllow, "git status": adapters.EffectAllow,
	} {
		g.Expect(sound(&p, command, work)).To(Equal(want), "%s", command)
	}
	p.ConfineReads = true
	g.Expect(sound(&p, "git show HEAD:x", work)).To(Equal(adapters.EffectDeny))
	p.Roots = []string{top}
	g.Expect(sound(&p, "git show HEAD:x", work)).To(Equal(adapters.EffectAllow))
}
