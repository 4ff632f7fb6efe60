package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// An interrupted run prints that it was interrupted and no verdict, and exits with a
// separate exit code.
func TestInterruptedCommandsSaySo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"run", "--case", "text"}, {"demo"}, {"update", "--corpus", "../../fixtures", "text/plain"}} {
		t.Setenv("CI", "")
		var out, errOut bytes.Buffer
		code := execute(ctx, args, strings.NewReader(""), &out, &errOut)
		if code != exitInterrupted || out.Len() > 0 || errOut.String() != "turnspec: interrupted\n" {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, out.String(), errOut.String())
		}
	}
}

// ^C ends a streaming command at once: its events have been written.
func TestInterruptEndsAStream(t *testing.T) {
	cmd := exec.Command("turnspec", "normalize", "claude")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	if _, err := in.Write([]byte(transcripts["claude"].head)); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it runs
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skip(err) // no such signal here
	}
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("interrupted, it ended with 0")
		}
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Error("it did not end at ^C")
	}
}
