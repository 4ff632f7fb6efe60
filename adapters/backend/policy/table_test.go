package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/policy"
	"github.com/turnspec/turnspec/adapters/event"
	table "github.com/turnspec/turnspec/fixtures/policy"
)

// stage holds the folders in which the cases are judged.
type stage struct{ base, work, home string }

func newStage(tb testing.TB) stage {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	s := stage{base, filepath.Join(base, "work"), filepath.Join(base, "home")}
	for _, d := range []string{s.work, s.home, filepath.Join(base, "out")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	for name, text := range table.Workspace() {
		file := filepath.Join(s.work, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		to, link := strings.CutPrefix(text, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(file, 0o755)
		case link:
			err = os.Symlink(to, file)
		default:
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// call returns a case's call in the folders of the stage.
func (s stage) call(c *table.Case) adapters.Call {
	in := strings.NewReplacer("<work>", s.work, "<home>", s.home).Replace(c.Input)
	out := adapters.Call{Tool: c.Tool, Dir: s.work, Input: event.Raw(in)}
	if c.Tool == "Bash" && !strings.HasPrefix(in, "{\"") && in != "{}" {
		out.Input = policy.CommandInput(in)
	}
	return out
}

// decide returns the decision of the case's policy in the folders of the stage.
func (s stage) decide(tb testing.TB, c *table.Case) policy.Decision {
	tb.Helper()
	p, err := policy.Load(c.File, []byte(strings.Repeat("\n", c.At-1)+c.Policy))
	if err != nil {
		tb.Fatal(err)
	}
	p.Home = s.home
	return p.Decide(s.call(c))
}

// checkDecision returns how a decision differs from that of the case, or "".
func checkDecision(c *table.Case, d policy.Decision) string {
	switch {
	case string(d.Effect) != c.Effect:
		return fmt.Sprintf("%s: %s, want %s: %s\n\t%s\n\treason: %s", c.Place(), d.Effect, c.Effect, c.Why, c.Input, d.Reason)
	case !hasReason(d.Tree, d.Effect, c.Reason):
		return fmt.Sprintf("%s: no reason contains %q: %s\n\t%s\n\treason: %s", c.Place(), c.Reason, c.Why, c.Input, d.Reason)
	}
	return ""
}

// hasReason reports whether a part has the effect for the reason.
func hasReason(n *policy.Node, e adapters.Effect, reason string) bool {
	if n.Effect == e && strings.Contains(n.Reason, reason) {
		return true
	}
	for _, p := range n.Parts {
		if hasReason(p, e, reason) {
			return true
		}
	}
	return false
}

func cases(tb testing.TB) []table.Case {
	tb.Helper()
	all, err := table.Table()
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestTable(t *testing.T) {
	s := newStage(t)
	all := cases(t)
	effects := map[string]int{}
	for _, c := range all {
		effects[c.Effect]++
		if c.Effect == "deny" && c.Reason == "" {
			t.Errorf("%s: a denial needs words of its reason, else it may have another one", c.Place())
		}
		if wrong := checkDecision(&c, s.decide(t, &c)); wrong != "" {
			t.Error(wrong)
		}
	}
	t.Logf("%d cases: %v", len(all), effects)
	g := NewWithT(t)
	g.Expect(len(all)).To(BeNumerically(">=", 300))
}
