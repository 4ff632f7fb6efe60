package standin_test

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// heard is what a process wrote so far; it is read while the process goes on.
type heard struct {
	mu sync.Mutex
	b  strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// echoClient does what the recording's client did, byte for byte.
type echoClient struct {
	play *standin.Play
	dir  string
	home string
	// text translates what the recording's client wrote.
	text func(string) string
	// instead gives the lines that are written instead of a recorded one; argv
	// what is launched instead.
	instead func(w *fixtures.WireLine) []string
	argv    func([]string) []string
	proc    proc.Process
	read    sync.WaitGroup
	out     map[int]*heard
	err     map[int]*heard
	exit    map[int]proc.Exit
	n       int
}

func newEchoClient(p *standin.Play) *echoClient {
	return &echoClient{
		play: p, dir: "<work>", home: "<home>", text: func(s string) string { return s },
		out: map[int]*heard{}, err: map[int]*heard{}, exit: map[int]proc.Exit{},
	}
}

func (e *echoClient) spawn(argv []string) error {
	argv = slices.Clone(argv)
	if e.argv != nil {
		argv = e.argv(argv)
	}
	for i := range argv {
		argv[i] = e.text(argv[i])
	}
	p, err := e.play.Launcher().Launch(context.Background(), proc.Command{
		Argv: argv, Dir: e.dir, Env: []string{"HOME=" + e.home, "CLAUDE_CODE_SDK_READS_SESSION_STATE=1"},
	})
	if err != nil {
		return err
	}
	e.n++
	e.proc = p
	n, out, errb := e.n, &heard{}, &heard{}
	e.out[n], e.err[n] = out, errb
	e.read.Go(func() { _, _ = io.Copy(out, p.Stdout()) })
	e.read.Go(func() { _, _ = io.Copy(errb, p.Stderr()) })
	return nil
}

// perform does all acts of the case, each when the play has come to it.
func (e *echoClient) perform(c *fixtures.Case) error {
	for i := range c.Wire {
		w := &c.Wire[i]
		switch w.Dir {
		case fixtures.Spawn:
			if err := e.spawn(w.Argv); err != nil {
				return err
			}
		case fixtures.In:
			e.steps()
			lines := []string{e.text(string(w.Bytes))}
			if e.instead != nil {
				lines = e.instead(w)
			}
			for _, line := range lines {
				if _, err := e.proc.Stdin().Write([]byte(line + "\n")); err != nil {
					return fmt.Errorf("line %d: %w", w.Line, err)
				}
			}
		case fixtures.EOF:
			e.steps()
			if err := e.proc.Stdin().Close(); err != nil {
				return err
			}
		case fixtures.Signal:
			e.steps()
			if !w.Outside && runtimes.Find(c.Runtime).IsStop(w.Signal) { // its only way to stop
				if err := e.proc.Signal(proc.Signal(w.Signal)); err != nil {
					return err
				}
			}
		case fixtures.Exit:
			e.steps()
			e.exit[e.n] = e.proc.Wait()
			e.read.Wait()
		}
	}
	e.steps()
	return nil
}

// steps plays until a barrier; what the reader has no room for yet is waited for.
func (e *echoClient) steps() {
	for {
		if _, ok := e.play.Step(); ok || e.play.State().Blocked {
			continue
		}
		if _, ok := e.play.Next(); !ok {
			return
		}
	}
}

// recorded is what the processes of a case wrote.
func recorded(c *fixtures.Case, dir fixtures.Dir, process int) string {
	var b strings.Builder
	for _, w := range c.Wire {
		if w.Dir == dir && w.Process == process {
			b.Write(w.Bytes)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// cases returns cases of the corpus. The suite plays each of them too.
func cases(t *testing.T) []*fixtures.Case {
	t.Helper()
	all, err := corpus()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d cases: the corpus is not there", len(all))
	}
	return all
}

// corpus is read once for all tests, which leave it as it is.
var corpus = sync.OnceValues(func() ([]*fixtures.Case, error) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		return nil, err
	}
	if !racesample.Whole() {
		ids = fixtures.OneOfEachTopic(ids)
	}
	ids = racesample.Sample(ids, 2)
	return fixtures.Embedded().CasesWhere(func(id string) bool { return slices.Contains(ids, id) })
})

func load(t *testing.T, id string) *fixtures.Case {
	t.Helper()
	c, err := fixtures.LoadCase(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRecordedStepsGetTheRecordedLines(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.ID, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true, Whole: true})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer p.Close()
			e := newEchoClient(p)
			g.Expect(e.perform(c)).To(gomega.Succeed())
			g.Expect(p.State().Finished).To(gomega.BeTrue(), "halted: %+v", p.State())
			for n := 1; n <= e.n; n++ {
				same(t, e.out[n].String(), recorded(c, fixtures.Out, n))
				same(t, e.err[n].String(), recorded(c, fixtures.Err, n))
			}
			for _, w := range c.Wire {
				if w.Dir == fixtures.Exit {
					want := proc.Exit{Code: w.Code, Signal: proc.Signal(w.Signal)}
					g.Expect(e.exit[w.Process]).To(gomega.Equal(want))
				}
			}
			g.Expect(p.Violations()).To(gomega.BeEmpty())
			g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
		})
	}
}

func TestMintedIDsAreFreshAndMapBackOneToOne(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.ID, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p, err := standin.New(c, standin.Options{Manual: true, Seed: 7, Whole: true})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer p.Close()
			e := newEchoClient(p)
			e.dir, e.home = "/srv/a b/x", "/home/ann"
			// What the client made up itself it sends as it was.
			e.text = func(s string) string {
				if strings.Contains(s, "5e5510000001") || strings.Contains(s, `"user"`) {
					return s
				}
				return p.Played(s)
			}
			g.Expect(e.perform(c)).To(gomega.Succeed())
			g.Expect(p.Violations()).To(gomega.BeEmpty())
			g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
			g.Expect(p.State().Finished).To(gomega.BeTrue(), "halted: %+v", p.State())
			for n := 1; n <= e.n; n++ {
				got, want := e.out[n].String(), recorded(c, fixtures.Out, n)
				// a process that exits at once has no id
				if slices.ContainsFunc([]string{"session_id", "threadId", "<work>", "<home>"}, func(s string) bool { return strings.Contains(want, s) }) {
					g.Expect(got).NotTo(gomega.Equal(want))
				}
				g.Expect(got).NotTo(gomega.ContainSubstring("<work>"))
				same(t, p.Recorded(got), want)
			}
		})
	}
}

// reply matches the replies of runtimes to requests. A read is no barrier, so the reply to
// one may come at another place than the recorded one.
var reply = regexp.MustCompile(`^\{("id":[^,]+,"(result|status)"|("id":[^,]+,)?"type":"response")`)

// same compares line by line: a whole wire is no message for a reader. The lines without
// replies must be the same, and all lines in any order.
func same(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	sameLines(t, slices.DeleteFunc(slices.Clone(g), reply.MatchString), slices.DeleteFunc(slices.Clone(w), reply.MatchString))
	sameLines(t, slices.Sorted(slices.Values(g)), slices.Sorted(slices.Values(w)))
}

func sameLines(t *testing.T, g, w []string) {
	t.Helper()
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d:\n got %.600s\nwant %.600s", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("got %d lines, want %d", len(g)-1, len(w)-1)
	}
}
