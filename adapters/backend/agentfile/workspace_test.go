package agentfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/turnspec/turnspec/adapters/backend/agentfile"
)

const (
	markdown = "---\nname: NAME\ndescription: TOLD\n---\ni\n"
	toml     = "name = 'NAME'\ndescription = 'TOLD'\ndeveloper_instructions = 'i'\n"
)

func file(f agentfile.Form, name string) []byte {
	text := markdown
	if f == agentfile.Codex {
		text = toml
	}
	return []byte(strings.ReplaceAll(text, "NAME", name))
}

func templates(f agentfile.Form, names ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for _, n := range names {
		out["t/"+n+f.Ext()] = &fstest.MapFile{Data: file(f, n)}
	}
	return out
}

// write writes a file of a workspace.
func write(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, f agentfile.Form, dir string) string {
	t.Helper()
	all, err := agentfile.Read(f, dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, a := range all {
		out = append(out, a.Name+"@"+a.File)
	}
	return strings.Join(out, " ")
}

func TestPrepare(t *testing.T) {
	for _, f := range agentfile.Forms() {
		t.Run(string(f), func(t *testing.T) {
			dir := t.TempDir()
			done, err := agentfile.Prepare(f, dir, templates(f, "one", "two"), "t")
			if err != nil || len(done) != 2 || done[0].Kept+done[1].Kept != "" {
				t.Fatal(done, err)
			}
			if got, want := names(t, f, dir), "one@"+f.Dir()+"/one"+f.Ext()+" two@"+f.Dir()+"/two"+f.Ext(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			own := []byte(strings.Replace(string(file(f, "one")), "TOLD", "our own", 1))
			write(t, dir, f.Dir()+"/one"+f.Ext(), own)
			done, err = agentfile.Prepare(f, dir, templates(f, "one", "three"), "t")
			if err != nil || done[0].Kept != done[0].File || done[1].Kept != "" {
				t.Fatal(done, err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, f.Dir(), "one"+f.Ext())); err != nil || string(got) != string(own) {
				t.Errorf("the file of the workspace has become %q, %v", got, err)
			}
			left, err := filepath.Glob(filepath.Join(dir, f.Dir(), ".*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestPrepareKeepsAgentOfOtherFile: the runtimes read the agents folder with its
// subfolders and hidden files. Prepare must not add a second agent of the same name.
func TestPrepareKeepsAgentOfOtherFile(t *testing.T) {
	for _, f := range agentfile.Forms() {
		for _, name := range []string{"other", "team/one", "team/deep/other", ".hidden"} {
			dir := t.TempDir()
			there := f.Dir() + "/" + name + f.Ext()
			write(t, dir, there, file(f, "one"))
			done, err := agentfile.Prepare(f, dir, templates(f, "one"), "t")
			if err != nil || len(done) != 1 || done[0].Kept != there {
				t.Error(there, done, err)
			}
			if got, want := names(t, f, dir), "one@"+there; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// TestConcurrentPrepare: if several programs prepare a workspace at once, exactly one
// writes each file, and no reader sees part of a file.
func TestConcurrentPrepare(t *testing.T) {
	dir := t.TempDir()
	var wrote int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			done, err := agentfile.Prepare(agentfile.Claude, dir, templates(agentfile.Claude, "one", "two"), "t")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, p := range done {
				if p.Kept == "" {
					wrote++
				}
			}
		})
	}
	wg.Wait()
	if wrote != 2 {
		t.Errorf("%d files were written, want 2", wrote)
	}
}

func TestPrepareErrors(t *testing.T) {
	two := templates(agentfile.Codex, "one", "two")
	two["t/two.toml"].Data = file(agentfile.Codex, "one")
	for _, c := range []struct {
		name  string
		there string // a file of the workspace that is wrong
		from  fstest.MapFS
		dir   string
		want  string
	}{
		{"a wrong template", "", fstest.MapFS{"t/a.toml": {Data: []byte("name = 7")}}, "t", "t/a.toml:1: "},
		{"a wrong file", "old.toml", templates(agentfile.Codex, "one"), "t", ".codex/agents/old.toml:1: "},
		{"a name twice", "", two, "t", "t/two.toml: the name one is taken by t/one.toml"},
		{"no templates", "", templates(agentfile.Claude, "one"), "t", "no .toml files in t"},
		{"no folder", "", fstest.MapFS{}, "t", "no .toml files in t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.there != "" {
				write(t, dir, ".codex/agents/"+c.there, []byte("x"))
			}
			_, err := agentfile.Prepare(agentfile.Codex, dir, c.from, c.dir)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, ".codex/agents/one.toml")); err == nil {
				t.Error("something was written all the same")
			}
		})
	}
	if _, err := agentfile.Prepare(agentfile.Codex, filepath.Join(t.TempDir(), "none"), templates(agentfile.Codex, "one"), "t"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a workspace that is not there:", err)
	}
	if _, err := agentfile.Prepare("emacs", t.TempDir(), templates(agentfile.Codex, "one"), "t"); err == nil {
		t.Error("an unknown form is taken")
	}
}

// TestLinksOutOfWorkspace: neither the folder nor a file may be a link that leads out.
func TestLinksOutOfWorkspace(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, dir, ".claude/README", nil)
	if err := os.Symlink(outside, filepath.Join(dir, ".claude/agents")); err != nil {
		t.Fatal(err)
	}
	if _, err := agentfile.Prepare(agentfile.Claude, dir, templates(agentfile.Claude, "one"), "t"); err == nil {
		t.Error("no error")
	}
	if there, err := os.ReadDir(outside); err != nil || len(there) > 0 {
		t.Errorf("written outside: %v, %v", there, err)
	}

	dir = t.TempDir()
	write(t, dir, ".claude/agents/two.md", file(agentfile.Claude, "two"))
	if err := os.Symlink(filepath.Join(outside, "x.md"), filepath.Join(dir, ".claude/agents/one.md")); err != nil {
		t.Fatal(err)
	}
	_, err := agentfile.Prepare(agentfile.Claude, dir, templates(agentfile.Claude, "one"), "t")
	if at := (*agentfile.Error)(nil); !errors.As(err, &at) || at.File != ".claude/agents/one.md" {
		t.Error("a link that leads out:", err)
	}
	if there, err := os.ReadDir(outside); err != nil || len(there) > 0 {
		t.Errorf("written outside: %v, %v", there, err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if all, err := agentfile.Read(agentfile.Claude, dir); err != nil || len(all) != 0 {
		t.Error("a workspace without agents:", all, err)
	}
	write(t, dir, ".claude/agents/a.md", file(agentfile.Claude, "a"))
	write(t, dir, ".claude/agents/b.md", []byte("x"))
	write(t, dir, ".claude/agents/c.md", file(agentfile.Claude, "a"))
	write(t, dir, ".claude/agents/.d.md.part", []byte("x"))
	write(t, dir, ".claude/agents/.md", []byte("x"))
	write(t, dir, ".claude/agents/e.txt", []byte("x"))
	write(t, dir, ".claude/agents/f.md/g.md", file(agentfile.Claude, "g"))
	all, err := agentfile.Read(agentfile.Claude, dir)
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "g" {
		t.Error("want the two correct ones, got", all)
	}
	if err == nil || err.Error() != `.claude/agents/b.md:1: want a line of --- and then the keys name: and description:, got "x"`+"\n.claude/agents/c.md: the name a is taken by .claude/agents/a.md" {
		t.Error(err)
	}
}
