// Package option tests an option that op.Opening does not have. TestToyOption of package op
// compiles it with that field.
package option

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures"
)

const scenario = `The model is brief.

-- scenario --
topic: text
brevity: high
-- client --
send m1: Name a river.
wait end m1
-- model --
[{"text":["The Danube."]}]
`

func TestHead(t *testing.T) {
	s, err := fixtures.ParseScenario("brief.txtar", "text/brief", []byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	if s.Opening.Brevity != "high" || !slices.Contains(s.Abilities(), "brevity") {
		t.Errorf("the option is %q, the scenario needs %v", s.Opening.Brevity, s.Abilities())
	}
}

// adapter is an adapter that honours what is in can.
type adapter struct {
	can    op.Set
	opened *adapters.Options
}

func (a adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Runtime: "claude", Can: a.can}
}

var errOpened = errors.New("opened")

func (a adapter) Open(_ context.Context, o adapters.Options) (adapters.Session, error) {
	*a.opened = o
	return nil, errOpened
}

func TestDeclaration(t *testing.T) {
	o := conformance.Open{Opening: op.Opening{Brevity: "high"}}
	var opened adapters.Options
	if _, err := conformance.Adapter("able", adapter{op.Set{"brevity"}, &opened}).Open(t.Context(), o); !errors.Is(err, errOpened) || opened.Brevity != "high" {
		t.Errorf("an adapter that declares the option: %v, it got %q", err, opened.Brevity)
	}
	if _, err := conformance.Adapter("unable", adapter{nil, &opened}).Open(t.Context(), o); !errors.Is(err, adapters.ErrUnsupported) {
		t.Errorf("an adapter that does not: %v", err)
	}
	_, err := codex.New().Open(t.Context(), adapters.Options{Opening: o.Opening})
	if !errors.Is(err, adapters.ErrUnsupported) || !strings.Contains(err.Error(), "brevity: ") {
		t.Errorf("an adapter that was written before the option: %v", err)
	}
}

func TestJSONLines(t *testing.T) {
	if !slices.Contains(jsonl.Abilities(), "brevity") {
		t.Error("a program cannot declare the option")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	open := func(can string) (written string, err error) {
		script := `echo '{"hello":{"protocol":1,"can":[` + can + `]}}'; read open; echo '{"reply":{"id":1,"error":{"code":"refused","message":"no"}}}'`
		s := &jsonl.Subject{Program: plug.Program{Of: "claude", Command: []string{"sh", "-c", script}, Watch: func(in bool, line string) {
			if in {
				written = line
			}
		}}}
		_, err = s.Open(t.Context(), conformance.Open{Opening: op.Opening{SessionID: "s", Dir: t.TempDir(), Brevity: "high"}, Env: os.Environ()})
		return written, err
	}
	if line, err := open(`"brevity"`); !strings.Contains(line, `"brevity":"high"`) || errors.Is(err, adapters.ErrUnsupported) {
		t.Errorf("declared: %s, %v", line, err)
	}
	if line, err := open(``); line != "" || !errors.Is(err, adapters.ErrUnsupported) {
		t.Errorf("undeclared: %s, %v", line, err)
	}
}
