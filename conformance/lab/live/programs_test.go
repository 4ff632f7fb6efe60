//go:build live

package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/recorder/runtimes"
)

// TestProgramsNeedNoSetUp checks that a program of each kind drives the real runtime as it is
// started for the other tiers.
func TestProgramsNeedNoSetUp(t *testing.T) {
	program, err := turnspec()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	examples, err := filepath.Abs("../../plug/jsonl/examples")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, x := range []struct {
		name, runtime string
		subject       []string
	}{
		{"a program in Python", "claude", []string{"--", "python3", filepath.Join(examples, "python", "claude.py")}},
		{"another runtime", "codex", []string{"--", "python3", filepath.Join(examples, "python", "codex.py")}},
		{"a runner", "claude", []string{"--subject", "runner", "--", program, "runner", "--runtime", "claude"}},
		{"a server", "claude", []string{"--subject", "http://127.0.0.1:0", "--", program, "serve", "--runtime", "claude", "--no-token", "--recover", "leave"}},
		{"no runtime", "chat", []string{"--subject", "runner", "--", program, "runner", "--runtime", "chat"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			g := NewWithT(t)
			cmd := exec.Command(program, slices.Concat([]string{"run", "--tier", "live", "--case", "text/plain", "--runtime", x.runtime}, x.subject)...)
			cmd.Dir = t.TempDir()
			installed, err := runtimes.Dir()
			g.Expect(err).NotTo(HaveOccurred())
			cmd.Env = append(os.Environ(), runtimes.Env+"="+installed, "TURNSPEC_ISOLATED=") // it enters its own namespace
			out, err := cmd.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), "%s", out)
			g.Expect(string(out)).To(MatchRegexp(`[0-9]+ checks, ([89]|1[0-9]) pass`), "it judged: %s", out)
		})
	}
}
