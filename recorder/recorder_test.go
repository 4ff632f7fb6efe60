package recorder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
	"github.com/turnspec/turnspec/recorder/redact"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// mute is a runtime that writes nothing until it is killed.
type mute struct {
	io.Writer
	ended chan struct{}
	once  sync.Once
	begun func()
}

func (m *mute) Launch(context.Context, proc.Command) (proc.Process, error) {
	m.Writer, m.ended = io.Discard, make(chan struct{})
	m.begun()
	return m, nil
}
func (m *mute) Close() error          { return nil }
func (m *mute) Stdin() io.WriteCloser { return m }
func (m *mute) Stdout() io.Reader     { return until(m.ended) }
func (m *mute) Stderr() io.Reader     { return until(m.ended) }
func (m *mute) Wait() proc.Exit       { <-m.ended; return proc.Exit{Code: -1, Signal: proc.SIGKILL} }
func (m *mute) Signal(proc.Signal) error {
	m.once.Do(func() { close(m.ended) })
	return nil
}

type until chan struct{}

func (u until) Read([]byte) (int, error) { <-u; return 0, io.EOF }

// installed returns a folder with an empty program in the place of a runtime.
func installed(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	rt, err := runtimes.Locate(dir, name, "")
	if err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(filepath.Dir(rt.Binary), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rt.Binary, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCancelledRecordingLeavesNoFile(t *testing.T) {
	g := NewWithT(t)
	s, err := fixtures.LoadScenario("text/plain")
	g.Expect(err).NotTo(HaveOccurred())
	tmp, out := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancelCause(t.Context())
	m := &mute{begun: func() { cancel(errors.New("the user has had enough")) }}
	_, _, err = Record(ctx, Options{Scenario: s, Runtime: "codex", Runtimes: installed(t, "codex"), Out: out, Launcher: m})
	g.Expect(err).To(MatchError(ContainSubstring("record text/plain on codex")))
	g.Expect(err).To(MatchError(ContainSubstring("the user has had enough")))
	g.Expect(filesIn(t, out)).To(BeEmpty())
	g.Expect(os.ReadDir(tmp)).To(BeEmpty(), "home and workspace are removed")
}

func TestWriteAtomicKeepsTheOldFile(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "b.txtar")
	g.Expect(writeAtomic(file, []byte("old"))).To(Succeed())
	g.Expect(writeAtomic(file, []byte("new"))).To(Succeed())
	g.Expect(os.ReadFile(file)).To(BeEquivalentTo("new"))
	g.Expect(os.Mkdir(filepath.Join(dir, "a", "c.txtar"), 0o755)).To(Succeed())
	g.Expect(writeAtomic(filepath.Join(dir, "a", "c.txtar"), []byte("new"))).NotTo(Succeed())
	g.Expect(filesIn(t, dir)).To(Equal([]string{file}), "no temporary file is left")
}

func TestUnusedReplyIsRejected(t *testing.T) {
	g := NewWithT(t)
	s := &fixtures.Scenario{ID: "a/b", File: "b.txtar", Model: map[string][]fixtures.Reply{"": {
		{Line: 5}, {Line: 6, On: "m2"}, {Line: 7, On: "m3"}, {Line: 8, On: "task"}, {Line: 9}, {Line: 10, Retry: true},
	}}}
	merged := []fixtures.Request{{New: []string{"m2", "m3"}}}
	g.Expect(checkUnused(s, nil, nil)).To(Succeed())
	g.Expect(checkUnused(s, []int{8}, nil)).To(Succeed(), "not every runtime begins such a turn")
	g.Expect(checkUnused(s, []int{7}, merged)).To(Succeed(), "m3 was sent together with m2")
	g.Expect(checkUnused(s, []int{7}, []fixtures.Request{{New: []string{"m3"}}})).To(MatchError(ContainSubstring("b.txtar:7")))
	g.Expect(checkUnused(s, []int{5, 9}, merged)).To(MatchError(HaveSuffix("b.txtar:5, b.txtar:9")))
	cut := fixtures.Request{New: []string{"m1"}, Ended: fixtures.EndedCut}
	g.Expect(checkUnused(s, []int{10}, []fixtures.Request{cut, {New: []string{"again"}}})).To(Succeed(), "the runtime has kept the reply")
	g.Expect(checkUnused(s, []int{10}, []fixtures.Request{cut, {New: []string{"retry"}}})).To(MatchError(HaveSuffix("b.txtar:10")))
}

func TestCorpusHoldsNothingPrivate(t *testing.T) {
	g := NewWithT(t)
	scenarios, err := fixtures.Scenarios()
	g.Expect(err).NotTo(HaveOccurred())
	ids := 0
	err = fs.WalkDir(fixtures.Embedded().FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "scenarios/") || !strings.HasSuffix(name, ".txtar") {
			return err
		}
		if ids++; ids%20 != 0 && (racesample.Enabled || !racesample.Whole()) {
			return nil
		}
		b, err := fs.ReadFile(fixtures.Embedded().FS, name)
		lines := strings.Split(string(b), "\n")
		own := scenarios
		for _, s := range scenarios {
			if strings.HasSuffix(name, "/"+s.ID+".txtar") {
				own = []*fixtures.Scenario{s} // of 300, all would take minutes
			}
		}
		for _, f := range redact.Lint(b, own...) {
			if strings.HasPrefix(lines[f.Line-1], `{"method":"`+fixtures.UnknownMethod) && f.Kind == "prose" {
				continue // an error reply that lists the names of all methods
			}
			t.Errorf("fixtures/%s: %s", name, f)
		}
		return err
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ids).To(BeNumerically(">", len(scenarios)))
}
