//go:build unix

package plug

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// TestIgnoredSignals starts itself with SIGHUP ignored, as nohup does, and expects that a
// program still ends at the signal.
func TestIgnoredSignals(t *testing.T) {
	const child = "TURNSPEC_TEST_IGNORED_SIGNALS"
	if os.Getenv(child) == "" {
		cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" -test.run '^TestIgnoredSignals$'`, os.Args[0])
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if !signal.Ignored(syscall.SIGHUP) {
		t.Fatal("the shell has not ignored SIGHUP")
	}
	defaultSignals()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGHUP {
		t.Errorf("the program ended with %v, want SIGHUP", cmd.ProcessState)
	}
}
