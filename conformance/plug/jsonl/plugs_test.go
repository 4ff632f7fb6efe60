package jsonl_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// plugged are the examples of the plugs, and what finds the plug without installing it.
var plugged = map[string]struct {
	folder, program, ext string
	good                 func(version string) bool
	want                 string
}{
	"python":     {"../python", "python3", ".py", func(v string) bool { return minor(v, "Python 3.") >= 8 }, "the plug needs Python 3.8 or newer"},
	"typescript": {"../typescript", "node", ".ts", runsTypeScript, "Node runs TypeScript from 22.18 on"},
}

// plugCommand returns the command of an example, with the plug where it finds it.
func plugCommand(t *testing.T, lang, name string) []string {
	t.Helper()
	x := plugged[lang]
	folder, err := filepath.Abs(x.folder)
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs(filepath.Join("..", "starter", lang, "claude"))
	if err != nil {
		t.Fatal(err)
	}
	if lang == "python" {
		return []string{x.program, "-c", "import runpy, sys; sys.path[:0] = sys.argv[1:3]; runpy.run_path(sys.argv[3], run_name='__main__')",
			filepath.Join(folder, "src"), examples, filepath.Join(examples, name+x.ext)}
	}
	// Node finds a package in node_modules above the program.
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "node_modules", "@turnspec"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.CopyFS(filepath.Join(dir, "node_modules", "@turnspec", "plug"), os.DirFS(folder)),
		os.CopyFS(filepath.Join(dir, "conformance"), os.DirFS(examples))); err != nil {
		t.Fatal(err)
	}
	return []string{x.program, filepath.Join(dir, "conformance", name+x.ext)}
}

// TestPlugsPass checks that an adapter behind each plug is connected, writes lines that
// the schemas allow, and passes the checks for what it supports.
func TestPlugsPass(t *testing.T) {
	t.Parallel()
	for lang, x := range plugged {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			need(t, x.program, x.good, x.want)
			g := gomega.NewWithT(t)
			commands, messages := schemaOf(t, "command"), schemaOf(t, "message")
			s := &jsonl.Subject{Program: plug.Program{Title: lang + " plug", Of: "claude", Command: plugCommand(t, lang, "plug")}}
			s.Watch = func(in bool, line string) {
				schema := messages
				if in {
					schema = commands
				}
				if err := valid(schema, line); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
			for _, step := range smoke(t, s) {
				g.Expect(step.Err).NotTo(gomega.HaveOccurred(), step.Name)
			}
			cases := []string{"claude/newest/text/plain", "claude/newest/permission/allow", "claude/newest/permission/file-change-denied-and-stopped", "claude/newest/stop/then-next-turn"}
			if racesample.Whole() {
				cases = append(cases, "claude/newest/tool/text-tool-text-three-rounds", "claude/newest/permission/deny-then-stop", "claude/newest/turn/two-turns-one-process")
			}
			failed, rep := judged(t, s, noFaults, cases...)
			g.Expect(failed).To(gomega.BeEmpty())
			passed := map[string]int{}
			for _, r := range rep.Results {
				if r.Verdict == "pass" {
					passed[r.Check.ID]++
				}
			}
			for _, id := range []string{"text.once", "text.order", "tool.paired", "tool.output", "permission.resolved", "turn.one-terminal"} {
				g.Expect(passed).To(gomega.HaveKey(id))
			}
		})
	}
}

// TestPlugsAreShort checks that an adapter is graded with less than 40 lines of plug.
func TestPlugsAreShort(t *testing.T) {
	t.Parallel()
	for lang, x := range plugged {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			need(t, x.program, x.good, x.want)
			g := gomega.NewWithT(t)
			b, err := os.ReadFile(filepath.Join("..", "starter", lang, "claude", "text"+x.ext))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			lines := 0
			for line := range strings.Lines(string(b)) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, `"""`) {
					lines++
				}
			}
			g.Expect(lines).To(gomega.BeNumerically("<", 40))
			s := &jsonl.Subject{Program: plug.Program{Title: lang + " text", Of: "claude", Command: plugCommand(t, lang, "text")}}
			failed, rep := judged(t, s, noFaults, "claude/newest/text/plain", "claude/newest/turn/two-turns-one-process")
			g.Expect(failed).To(gomega.BeEmpty())
			passed := 0
			for _, r := range rep.Results {
				if r.Verdict == "pass" && strings.HasPrefix(r.Check.ID, "text.") {
					passed++
				}
			}
			g.Expect(passed).To(gomega.BeNumerically(">", 3))
		})
	}
}
