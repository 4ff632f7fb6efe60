//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSignalEndsSubject checks that SIGINT and SIGTERM end a command with its exit code, whatever
// the subject does, and leave no process and no folder.
func TestSignalEndsSubject(t *testing.T) {
	shell := `trap "" TERM INT; subject-that is-silent & subject-that never-stops; wait`
	commands := map[string][]string{
		"run":   {"run", "--runtime", "claude", "--case", "text/plain"},
		"http":  {"run", "--runtime", "claude", "--case", "text/plain", "--subject", "http://127.0.0.1:0"},
		"acp":   {"run", "--runtime", "claude", "--case", "text/plain", "--subject", "acp"},
		"watch": {"run", "--watch", "--runtime", "claude", "--case", "text/plain"},
		"smoke": {"smoke", "--runtime", "claude"},
		"debug": {"debug", "text/plain", "--runtime", "claude"},
		"bench": {"bench", "--runtime", "claude", "--load", "stream"},
		"model": {"model", "text/plain", "--runtime", "claude"},
	}
	for _, x := range []struct {
		command string
		signal  syscall.Signal
		subject []string
		starts  int // processes
	}{
		{"run", syscall.SIGTERM, []string{"subject-that", "is-silent"}, 1},
		{"run", syscall.SIGINT, []string{"subject-that", "never-stops"}, 1},
		{"run", syscall.SIGTERM, []string{"subject-that", "floods-stderr"}, 1},
		{"run", syscall.SIGINT, []string{"sh", "-c", `subject-that is-silent & kill -STOP $$`}, 1},
		{"run", syscall.SIGTERM, []string{"sh", "-c", shell}, 2},
		{"http", syscall.SIGTERM, []string{"sh", "-c", shell}, 2},
		{"acp", syscall.SIGINT, []string{"sh", "-c", shell}, 2},
		{"smoke", syscall.SIGTERM, []string{"sh", "-c", shell}, 2},
		{"watch", syscall.SIGINT, []string{"sh", "-c", shell}, 2},
		{"debug", syscall.SIGINT, []string{"sh", "-c", shell}, 2},
		{"bench", syscall.SIGTERM, []string{"subject-that", "is-silent"}, 1},
		{"model", syscall.SIGTERM, []string{"sh", "-c", shell}, 2},
	} {
		t.Run(x.command+" "+x.subject[len(x.subject)-1], func(t *testing.T) {
			t.Parallel()
			temp, err := os.MkdirTemp("", "signal") //nolint:usetesting // the path of a socket must be short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(temp) })
			pids := t.TempDir()
			args := slices.Concat(commands[x.command], []string{"--"})
			if x.command != "bench" && x.command != "model" {
				args = slices.Concat(commands[x.command], []string{"--start-limit", "10m", "--"})
			}
			cmd := exec.Command("turnspec", append(args, x.subject...)...)
			var out bytes.Buffer
			cmd.Dir, cmd.Stdout, cmd.Stderr = pids, &out, &out
			cmd.Env = append(os.Environ(), "PIDS="+pids, "TMPDIR="+temp, "CI=")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			started := func() []string { all, _ := filepath.Glob(filepath.Join(pids, "[0-9]*")); return all }
			waitFor(t, "the subject", func() bool { return len(started()) >= x.starts })
			if err := cmd.Process.Signal(x.signal); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait() // its exit code is judged
			late.Stop()
			if want := 128 + int(x.signal); cmd.ProcessState.ExitCode() != want || !strings.Contains(out.String(), "turnspec: interrupted\n") {
				t.Errorf("exit code %d, want %d: %s", cmd.ProcessState.ExitCode(), want, out.String())
			}
			for _, file := range started() {
				pid, err := strconv.Atoi(filepath.Base(file))
				if err != nil {
					t.Fatal(err)
				}
				waitFor(t, "the end of process "+file, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
			}
			left, err := os.ReadDir(temp)
			if err != nil || len(left) > 0 {
				t.Errorf("left in the folder of temporary files: %v, %v", left, err)
			}
		})
	}
}

// waitFor waits, for a minute at most, until something is so.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
