package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKillEndsSubject kills commands with SIGKILL, which they cannot handle: the kernel ends the
// subject, which reads no stdin and ignores SIGTERM.
func TestKillEndsSubject(t *testing.T) {
	for name, args := range map[string][]string{
		"run":   {"run", "--runtime", "claude", "--case", "text/plain", "--start-limit", "10m"},
		"http":  {"run", "--runtime", "claude", "--case", "text/plain", "--subject", "http://127.0.0.1:0", "--start-limit", "10m"},
		"acp":   {"run", "--runtime", "claude", "--case", "text/plain", "--subject", "acp", "--start-limit", "10m"},
		"debug": {"debug", "text/plain", "--runtime", "claude", "--start-limit", "10m"},
		"model": {"model", "text/plain", "--runtime", "claude"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := t.TempDir()
			cmd := exec.Command("turnspec", slices.Concat(args, []string{"--", "subject-that", "is-silent"})...)
			cmd.Env = append(os.Environ(), "PIDS="+pids, "TMPDIR="+pids, "CI=")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			started := func() []string { all, _ := filepath.Glob(filepath.Join(pids, "[0-9]*")); return all }
			waitFor(t, "the subject", func() bool { return len(started()) > 0 })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			for _, file := range started() {
				waitFor(t, "the end of process "+file, func() bool { return !runs(filepath.Base(file)) })
			}
		})
	}
}

// runs reports whether a process runs. One that has ended may still wait for a parent to read its
// exit code.
func runs(pid string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, state, ok := strings.Cut(string(b), ") ")
	return err == nil && ok && state[0] != 'Z' && state[0] != 'X'
}
