package policy_test

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/policy"
)

// corpusCommand is a command of testdata/commands.txt with the mode in which it belongs.
type corpusCommand struct {
	mode policy.Mode
	text string
}

// corpus reads testdata/commands.txt: a line for each command, below a line with the mode. ⏎
// stands for the end of a line.
func corpus(tb testing.TB) (out []corpusCommand) {
	tb.Helper()
	b, err := os.ReadFile("testdata/commands.txt")
	must(tb, err)
	mode := policy.Mode("")
	for line := range strings.SplitSeq(string(b), "\n") {
		name, isMode := strings.CutPrefix(line, "== ")
		switch {
		case isMode:
			mode = policy.Mode(name)
		case line != "" && mode != "":
			out = append(out, corpusCommand{mode, strings.ReplaceAll(line, "⏎", "\n")})
		}
	}
	return out
}

// TestCorpus: of the harmless commands that agents type, at least 97 % are allowed without
// a question, also in the form in which Codex passes them to a shell. Of the commands of the
// table that are denied or asked, none is allowed.
func TestCorpus(t *testing.T) {
	g := NewWithT(t)
	all, asked := corpus(t), 0
	s := newStage(t)
	seen := map[corpusCommand]bool{}
	for _, c := range all {
		if seen[c] {
			t.Errorf("duplicate command %q", c.text)
		}
		seen[c] = true
		p := policy.Policy{Mode: c.mode, Roots: []string{s.work}, Home: s.home}
		d := p.Decide(adapters.Call{Tool: "Bash", Dir: s.work, Input: policy.CommandInput(c.text)})
		wrapped := "/bin/bash -lc '" + strings.ReplaceAll(c.text, "'", `'\''`) + "'"
		if w := p.Decide(adapters.Call{Tool: "Bash", Dir: s.work, Input: policy.CommandInput(wrapped)}); w.Effect != d.Effect {
			t.Errorf("%s: %s, but %s in bash -lc: %s", c.text, d.Effect, w.Effect, w.Reason)
		}
		if d.Effect != allow {
			asked++
			t.Logf("asked in vain, %s: %s: %s", c.mode, c.text, d.Reason)
		}
	}
	harmful, holes := 0, 0
	for _, c := range cases(t) {
		if c.Tool == "Bash" && c.Effect != "allow" {
			harmful++
			if s.decide(t, &c).Effect == allow {
				holes++
			}
		}
	}
	t.Logf("%d of %d harmless commands are asked in vain, %.1f %%; %d of %d others are allowed", asked, len(all), 100*float64(asked)/float64(len(all)), holes, harmful)
	g.Expect(len(all)).To(BeNumerically(">=", 1400))
	g.Expect(float64(asked)).To(BeNumerically("<=", 0.03*float64(len(all))))
	g.Expect(holes).To(BeZero())
}
