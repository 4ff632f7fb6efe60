package shrink_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/lab/shrink"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

var references = map[string]conformance.Subject{
	"claude": backend.Adapter("claude", claude.New()), "codex": backend.Adapter("codex", codex.New()),
}

// TestBrokenAdaptersShrink lets broken adapters fail on long cases: what is left has few
// lines, still fails the same check, and passes for the reference.
func TestBrokenAdaptersShrink(t *testing.T) {
	for _, x := range []struct {
		runtime, adapter, check, id string
		lines                       int // at most
	}{
		{"codex", "spins-for-ever", "tool.paired", "codex/newest/stop/mid-tool-then-next-turn", 20},
		{"claude", "ends-twice", "turn.one-terminal", "claude/newest/turn/three-turns", 12},
		{"codex", "shows-the-result-too", "text.once", "codex/newest/tool/text-tool-text-three-rounds", 16},
		{"claude", "dies-of-the-unknown", "wire.unknown", "claude/newest/turn/three-turns", 14},
	} {
		t.Run(x.adapter, func(t *testing.T) {
			g := NewWithT(t)
			d, err := defects.Named(x.adapter)
			g.Expect(err).NotTo(HaveOccurred())
			check, err := checks.Named(x.check)
			g.Expect(err).NotTo(HaveOccurred())
			reference := references[x.runtime]
			res, err := shrink.Shrink(t.Context(), shrink.Config{
				Corpus: fixtures.Embedded(), Case: x.id, Subject: d.Subject(reference), Check: check[0], Guard: reference, Seed: 1, Tries: 600,
			})
			g.Expect(err).NotTo(HaveOccurred())
			t.Logf("%+v -> %+v in %d tries", res.Before, res.After, res.Tries)
			g.Expect(res.After.Lines).To(BeNumerically("<=", x.lines))
			g.Expect(res.After.Bytes).To(BeNumerically("<", res.Before.Bytes/2))

			files, err := res.Files("about")
			g.Expect(err).NotTo(HaveOccurred())
			dir := filepath.Join(t.TempDir(), "small")
			g.Expect(shrink.Write(dir, files)).To(Succeed())
			for _, s := range []conformance.Subject{d.Subject(reference), reference} {
				rep, err := runner.Run(t.Context(), conformance.Config{
					Corpus: fixtures.Corpus{FS: os.DirFS(dir)}, Subjects: []conformance.Subject{s}, Checks: check, Seed: 1, Places: 3,
				})
				g.Expect(err).NotTo(HaveOccurred())
				want := conformance.Fail
				if s == reference {
					want = conformance.Pass
				}
				g.Expect(rep.Results).To(HaveLen(1))
				g.Expect(rep.Results[0].Verdict).To(Equal(want), "%s: %v", s.Name(), rep.Results[0].Problems)
			}
		})
	}
}

// TestCaseThatPasses checks that there is nothing to make smaller if the check passes.
func TestCaseThatPasses(t *testing.T) {
	g := NewWithT(t)
	check, err := checks.Named("text.once")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = shrink.Shrink(t.Context(), shrink.Config{
		Corpus: fixtures.Embedded(), Case: "codex/newest/text/plain", Subject: references["codex"], Check: check[0],
	})
	g.Expect(errors.Is(err, shrink.ErrPasses)).To(BeTrue(), "%v", err)
	_, err = shrink.Shrink(t.Context(), shrink.Config{Corpus: fixtures.Embedded(), Case: "codex/newest/text/none", Subject: references["codex"], Check: check[0]})
	g.Expect(errors.Is(err, fs.ErrNotExist)).To(BeTrue())
}
