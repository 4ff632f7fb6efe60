package jsonl_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// TestRefusedOpenEndsTheProgramGently demands that a program whose session was not opened
// can end its runtime, and is not killed with it.
func TestRefusedOpenEndsTheProgramGently(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	done := filepath.Join(t.TempDir(), "done")
	program := filepath.Join(t.TempDir(), "program.sh")
	script := `echo '{"hello":{"protocol":1,"name":"x","runtime":"codex","can":["resume"],"events":["done"]}}'
read open
echo '{"reply":{"id":1,"error":{"code":"unknown_id","message":"no such session"}}}'
cat > /dev/null
sleep 0.2
touch "$1"
`
	if err := os.WriteFile(program, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &jsonl.Subject{Program: plug.Program{Title: "x", Of: "codex", Command: []string{"sh", program, done}}}
	o := conformance.Open{}
	o.Resume, o.Dir, o.Env = "none", t.TempDir(), os.Environ()
	x, err := s.Open(context.Background(), o)
	if err == nil {
		_ = x.Close(context.Background())
		t.Fatal("the session was opened")
	}
	t.Log(err)
	if _, err := os.Stat(done); err != nil {
		t.Errorf("the program was killed before it had ended its work: %v", err)
	}
}
