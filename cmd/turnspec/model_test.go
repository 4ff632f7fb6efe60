package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestModelServesUntilItIsEnded checks the model without a command: its first line has the
// address, a line of stdin releases a hold, and SIGTERM ends it with the outcome.
func TestModelServesUntilItIsEnded(t *testing.T) {
	t.Parallel()
	script := t.TempDir() + "/turns.txtar"
	if err := os.WriteFile(script, []byte("-- model --\n"+`[{"text":["a"]},{"hold":"h1"},{"text":["b"]}]`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("turnspec", "model", "--script", script, "--json", "--hold")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	var at struct{ URL string }
	if err != nil || json.Unmarshal([]byte(first), &at) != nil {
		t.Fatalf("first line %q, %v", first, err)
	}
	if _, err := in.Write([]byte("h1\n")); err != nil {
		t.Fatal(err)
	}
	reply, err := http.Post(at.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`)) //nolint:noctx // the model ends with the test
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(reply.Body); err != nil || !strings.Contains(body.String(), `"content":"ab"`) {
		t.Errorf("reply %s, %v", body.String(), err)
	}
	_ = reply.Body.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Skip(err) // no such signal here
	}
	last, err := lines.ReadString('\n')
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if err != nil || last != `{"requests":1}`+"\n" {
		t.Errorf("outcome %q, %v, stderr %s", last, err, errOut.String())
	}
}
