//go:build live

package live

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/recorder/runtimes"
)

// TestTapRecordsARealRuntime checks that a session through a tap is as it is without, and that
// the case which import makes of it passes on the adapter.
func TestTapRecordsARealRuntime(t *testing.T) {
	program, err := turnspec()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, runtime := range []string{"claude", "codex"} {
		t.Run(runtime, func(t *testing.T) {
			g := NewWithT(t)
			rt, err := runtimes.Find("", runtime, "")
			g.Expect(err).NotTo(HaveOccurred())
			dir := t.TempDir()
			script := fmt.Sprintf("#!/bin/sh\nexec %s tap --to %s/recordings -- %s \"$@\"\n", program, dir, rt.Binary)
			g.Expect(os.Mkdir(filepath.Join(dir, "bin"), 0o700)).To(Succeed())
			g.Expect(os.WriteFile(filepath.Join(dir, "bin", runtime), []byte(script), 0o700)).To(Succeed())
			run := func(stdin string, args ...string) string {
				cmd := exec.Command(program, args...)
				cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
				path := strings.Join(append(slices.Clone(rt.Path), os.Getenv("PATH")), string(filepath.ListSeparator))
				cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(filepath.ListSeparator)+path)
				out, err := cmd.CombinedOutput()
				g.Expect(err).NotTo(HaveOccurred(), "%s", out)
				return string(out)
			}
			out := run(`{"type":"message","content":"Name three rivers."}`+"\n",
				"model", "text/plain", "--runtime", runtime, "--", program, "runner", "--runtime", runtime, "--permission-mode", "default")
			g.Expect(out).To(ContainSubstring(`{"type":"complete"}`))
			var session string
			g.Eventually(func() bool {
				files, _ := filepath.Glob(filepath.Join(dir, "recordings", "*-"+runtime+"-*.jsonl"))
				return slices.ContainsFunc(files, func(file string) bool {
					b, _ := os.ReadFile(file)
					session = file
					return strings.Contains(string(b), "the Mekong") && strings.Contains(string(b), `"exit":0`)
				})
			}).WithTimeout(30 * time.Second).Should(BeTrue())
			run("", "import", session, "--out", "session.txtar")
			g.Expect(run("", "run", "--case", "session.txtar", "--table")).To(MatchRegexp(`turn\.one-terminal +pass`))
		})
	}
}
