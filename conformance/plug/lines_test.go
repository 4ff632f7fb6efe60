package plug_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// endless is a line without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestNewLines reads lines up to the limit whole, and stops at the first longer one.
func TestNewLines(t *testing.T) {
	longest := strings.Repeat("y", plug.MaxLine)
	rest := &endless{}
	l := plug.NewLines(io.MultiReader(strings.NewReader("a\n"+longest+"\n"+longest+"\r\nb\n"), rest))
	defer l.Release()
	for _, want := range []string{"a", longest, longest, "b"} {
		if b, err := l.Next(); err != nil || string(b) != want {
			t.Fatalf("got %d bytes and %v, want %d bytes", len(b), err, len(want))
		}
	}
	b, err := l.Next()
	if !errors.Is(err, lines.ErrTooLong) || !strings.HasPrefix(string(b), "xxx") {
		t.Errorf("got %.10q and %v, want the beginning of the line and %v", b, err, lines.ErrTooLong)
	}
	if most := plug.MaxLine + 1<<20; rest.read > most {
		t.Errorf("%d bytes of the endless line were read, at most %d should be", rest.read, most)
	}
	if _, err := l.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the long line: %v, want the end", err)
	}
	if err := plug.TooLong("line 5", b); !errors.Is(err, conformance.ErrOverBudget) || !errors.Is(err, conformance.ErrProtocol) {
		t.Errorf("%v is no error of the budget and the protocol", err)
	}
}
