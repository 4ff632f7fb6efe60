package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// A part of the scenarios contains some of each topic.
func TestEveryNth(t *testing.T) {
	g := NewWithT(t)
	var all []*fixtures.Scenario
	for _, id := range []string{"stop/a", "stop/b", "stop/c", "stop/d", "text/a", "tool/a", "tool/b"} {
		topic, _, _ := strings.Cut(id, "/")
		all = append(all, &fixtures.Scenario{ID: id, Topic: topic})
	}
	ids := func(n int) (out []string) {
		for _, s := range everyNth(all, n) {
			out = append(out, s.ID)
		}
		return out
	}
	g.Expect(ids(1)).To(HaveLen(len(all)))
	g.Expect(ids(2)).To(Equal([]string{"stop/a", "stop/c", "text/a", "tool/a"}))
	g.Expect(ids(3)).To(Equal([]string{"stop/a", "stop/d", "text/a", "tool/a"}))

	stored, err := fixtures.Scenarios()
	g.Expect(err).NotTo(HaveOccurred())
	topics := func(scenarios []*fixtures.Scenario) map[string]bool {
		out := map[string]bool{}
		for _, s := range scenarios {
			out[s.Topic] = true
		}
		return out
	}
	part := everyNth(stored, 3)
	g.Expect(len(part)).To(BeNumerically("<", len(stored)/2))
	g.Expect(topics(part)).To(Equal(topics(stored)))
}

// The lines about one recording stay together when several workers write.
func TestPass(t *testing.T) {
	g := NewWithT(t)
	var told []string
	pass(strings.NewReader("same  a  1s\nDIFF  b: recorded again, it differs:\n- x\n+ y\nok    c\n1 recordings differ\n"), func(s string) { told = append(told, s) })
	g.Expect(told).To(Equal([]string{"same  a  1s\n", "DIFF  b: recorded again, it differs:\n- x\n+ y\n", "ok    c\n1 recordings differ\n"}))
}

// A scenario file may be anywhere: its topic names it, and its cases are written
// below the working directory unless it belongs to the corpus.
func TestScenarioFileAnywhere(t *testing.T) {
	g := NewWithT(t)
	elsewhere := t.TempDir()
	file := filepath.Join(elsewhere, "mine.txtar")
	text := "A scenario.\n\n-- scenario --\ntopic: text\n-- client --\nsend m1: Hi.\nwait end m1\n-- model --\n[{\"text\":[\"Hello.\"]}]\n"
	g.Expect(os.WriteFile(file, []byte(text), 0o644)).To(Succeed())
	t.Chdir(elsewhere)
	disk, corpus, err := recordCorpus("", "", []string{file})
	g.Expect(err).NotTo(HaveOccurred())
	s, err := loadScenario(corpus, file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.ID).To(Equal("text/mine"))
	g.Expect(job{corpus: corpus, disk: disk}.folderOf(s)).To(Equal("."))

	_, _, err = recordCorpus("", "", []string{"text/plain"})
	g.Expect(err).To(MatchError(ContainSubstring("no folder fixtures/scenarios here or above")))

	clone := filepath.Join(elsewhere, "clone", "fixtures")
	g.Expect(os.MkdirAll(filepath.Join(clone, "scenarios", "text"), 0o755)).To(Succeed())
	stored := filepath.Join(clone, "scenarios", "text", "mine.txtar")
	g.Expect(os.WriteFile(stored, []byte(text), 0o644)).To(Succeed())
	t.Chdir(filepath.Dir(clone))
	disk, corpus, err = recordCorpus("", "", []string{file})
	g.Expect(err).NotTo(HaveOccurred())
	for arg, want := range map[string]string{file: ".", stored: "fixtures", "text/mine": "fixtures"} {
		s, err := loadScenario(corpus, arg)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(job{corpus: corpus, disk: disk}.folderOf(s)).To(Equal(want), arg)
	}
}

// TestReadsOfAPart checks that a version of which only some scenarios are recorded, and no replies to
// reads, is not compared with such.
func TestReadsOfAPart(t *testing.T) {
	g := NewWithT(t)
	j := job{corpus: fixtures.Embedded(), check: true, lifecycle: true}
	g.Expect(j.readsOf(runtimes.Pin{Name: "chat", Version: "1-details"})).To(BeFalse())
	g.Expect(j.readsOf(runtimes.Pin{Name: "chat", Version: "1-plain"})).To(BeTrue())
	g.Expect(j.readsOf(runtimes.Pin{Name: "codex", Version: "0.0.0"})).To(BeTrue(), "all of it must be recorded")
	j.check = false
	g.Expect(j.readsOf(runtimes.Pin{Name: "chat", Version: "1-details"})).To(BeTrue())
}

// TestPinsWithCases checks that an installed version without cases is not compared with any.
func TestPinsWithCases(t *testing.T) {
	g := NewWithT(t)
	recorded, other := runtimes.Pin{Name: "chat", Version: "1-plain"}, runtimes.Pin{Name: "chat", Version: "9"}
	with, without, err := pinsWithCases(fixtures.Embedded(), []runtimes.Pin{other, recorded})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(with).To(Equal([]runtimes.Pin{recorded}))
	g.Expect(without).To(Equal([]string{"skip  chat 9: the corpus has no case of it"}))
	_, _, err = pinsWithCases(fixtures.Embedded(), []runtimes.Pin{other})
	g.Expect(err).To(MatchError(ContainSubstring("turnspec record --all")))
}
