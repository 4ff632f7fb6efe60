package op_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/session"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
	toyadapter "github.com/turnspec/turnspec/fixtures/wire/runtimes/testdata/toy/adapter"
	toyrecorder "github.com/turnspec/turnspec/fixtures/wire/runtimes/testdata/toy/recorder"
	toywire "github.com/turnspec/turnspec/fixtures/wire/runtimes/testdata/toy/wire"
)

// What follows is all that a new operation needs: its row, its interface with the call, and,
// below, a scenario, a check and a broken adapter.

var pin = &op.Op{
	Name: "pin", Step: "pin", Args: op.Message, Members: []string{"message_id"}, Does: "pins a message",
	Of: func(_, id, _ string) op.Call { return op.Call{MessageID: id} },
}

type pinner interface {
	Pin(ctx context.Context, messageID string) error
}

func callPin(x pinner, ctx context.Context, c op.Call) (any, error) {
	return nil, x.Pin(ctx, c.MessageID)
}

const pinScenario = `A message is pinned.

-- scenario --
topic: text
-- client --
send m1: Name three rivers.
wait end m1
pin m1
-- model --
[{"text":["The Danube, ","the Nile ","and the Mekong."]}]
`

var pinWorks = &conformance.Check{
	ID: "session.pin", Sentence: "A message can be pinned.", Mend: "Pin the message.", Source: "this test", Tiers: []conformance.Tier{conformance.TierWitness},
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		for _, a := range t.Steps {
			if a.Step.Op() == pin {
				f.Asserted(1)
				if a.Err != nil {
					f.Failf("pin: %v", a.Err)
				}
			}
		}
	},
}

const asProgram = "pinning-program"

func TestMain(m *testing.M) {
	adapters.AddOperation(pin, callPin)
	runtimes.Register(toywire.Runtime)
	if len(os.Args) == 3 && os.Args[1] == asProgram {
		program(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// subject is the adapter of the toy. Its sessions can pin if able is set, and it declares what
// is in declared.
type subject struct {
	toyadapter.Subject
	able     bool
	err      error // of Pin
	declared op.Set
}

func (s subject) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Runtime: "toy", Can: s.declared}
}

func (s subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	sess, err := s.Subject.Open(ctx, o)
	if err != nil || !s.able {
		return sess, err
	}
	return wrapper{pinning{sess, s.err}}, nil
}

// pinning is the session of an adapter that has the operation: a Go method.
type pinning struct {
	adapters.Session
	err error
}

func (p pinning) Pin(context.Context, string) error { return p.err }

// wrapper is a session around another one, which it forwards nothing to by hand.
type wrapper struct{ adapters.Session }

func (w wrapper) Unwrap() adapters.Session { return w.Session }

// TestToyOperation adds an operation and runs its scenario against an adapter that has it,
// a broken one, and one that lacks it.
func TestToyOperation(t *testing.T) {
	scn, err := fixtures.ParseScenario("pin.txtar", "text/pin", []byte(pinScenario))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(scn.Abilities(), " "); got != "pin" {
		t.Errorf("the scenario needs %q", got)
	}
	if _, err := fixtures.ParseScenario("pin.txtar", "text/pin", []byte(strings.Replace(pinScenario, "pin m1", "pin m9", 1))); err == nil || !strings.Contains(err.Error(), `pin: no message "m9"`) {
		t.Errorf("a message that no step sends: %v", err)
	}
	file, err := toyrecorder.Record(scn)
	if err != nil {
		t.Fatal(err)
	}
	corpus := fixtures.Corpus{Root: "toys", FS: fstest.MapFS{
		"scenarios/text/pin.txtar": {Data: []byte(pinScenario)},
		"toy/1.0.0/text/pin.txtar": {Data: file},
	}}
	for _, x := range []struct {
		name                string
		subject             subject
		works, capabilities conformance.Verdict
	}{
		{"has it", subject{able: true, declared: op.SetOf(pin)}, conformance.Pass, conformance.Pass},
		{"broken", subject{able: true, err: errors.New("no pins left"), declared: op.SetOf(pin)}, conformance.Fail, conformance.Pass},
		{"undeclared", subject{able: true}, conformance.Pass, conformance.Fail},
		{"lacks it", subject{}, conformance.NotExpressible, conformance.NotExpressible},
		{"declares it and lacks it", subject{declared: op.SetOf(pin)}, conformance.NotExpressible, conformance.Fail},
	} {
		t.Run(x.name, func(t *testing.T) {
			rep, err := runner.Run(t.Context(), conformance.Config{
				Corpus: corpus, Subjects: []conformance.Subject{x.subject}, Checks: []*conformance.Check{pinWorks, session.Capabilities},
				Cases: []string{"toy/1.0.0/text/pin"}, Tiers: []conformance.Tier{conformance.TierWitness},
			})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]conformance.Verdict{pinWorks.ID: x.works, session.Capabilities.ID: x.capabilities}
			for _, r := range rep.Results {
				if r.Verdict != want[r.Check.ID] {
					t.Errorf("%s: %v, want %v: %v", r.Check.ID, r.Verdict, want[r.Check.ID], r.Problems)
				}
				delete(want, r.Check.ID)
			}
			if len(want) > 0 {
				t.Errorf("no verdict of %v", want)
			}
		})
	}
}

// program is a program over JSON lines. It declares what can holds, and refuses each pin of
// another message than m1.
func program(can string) {
	fmt.Printf(`{"hello":{"protocol":1,"can":[%s]}}`+"\n", can)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var c map[string]any
		_ = json.Unmarshal(in.Bytes(), &c)
		switch {
		case c["do"] == "open":
			fmt.Println(`{"event":{"type":"session_ready","data":{"session_id":"s","runtime":"toy"}}}`)
		case c["do"] == "close":
			fmt.Println(`{"event":{"type":"session_end","data":{"reason":"closed"}}}`)
		case c["do"] == "pin" && c["message_id"] == "m1" && len(c) == 3:
		default:
			fmt.Printf(`{"reply":{"id":%v,"error":{"code":"unsupported","message":%q}}}`+"\n", c["id"], in.Text())
			continue
		}
		fmt.Printf(`{"reply":{"id":%v}}`+"\n", c["id"])
	}
}

// TestToyOperationOverJSONLines checks that a program gets the operation as a command if it
// declares it.
func TestToyOperationOverJSONLines(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	open := func(can string) adapters.Session {
		s := &jsonl.Subject{Program: plug.Program{Title: "pinning", Of: "toy", Command: []string{self, asProgram, can}}}
		sess, err := s.Open(t.Context(), conformance.Open{Opening: op.Opening{SessionID: "s", Dir: t.TempDir()}, Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sess.Close(context.Background()) })
		go func() {
			for range sess.Events() {
			}
		}()
		return sess
	}
	able := wrapper{open(`"pin"`)}
	if _, err := adapters.Do(t.Context(), able, pin.CallOf("", "m1", "")); err != nil {
		t.Errorf("pin: %v", err)
	}
	if _, err := adapters.Do(t.Context(), able, pin.CallOf("", "m2", "")); !errors.Is(err, conformance.ErrContradictsDeclaration) {
		t.Errorf("a declared operation that is refused: %v", err)
	}
	if _, err := adapters.Do(t.Context(), open(""), pin.CallOf("", "m1", "")); !errors.Is(err, conformance.ErrDeclaredUnsupported) {
		t.Errorf("an undeclared operation: %v", err)
	}
}

// toyServed is an adapter for the server.
type toyServed struct{}

func (toyServed) Capabilities() adapters.Capabilities { return adapters.Capabilities{Runtime: "toy"} }

func (toyServed) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &jsonl.Subject{Program: plug.Program{Title: "pinning", Of: "toy", Command: []string{self, asProgram, `"pin"`}}}
	return s.Open(ctx, conformance.Open{Opening: op.Opening{SessionID: o.SessionID, Dir: os.TempDir()}, Env: os.Environ()})
}

// TestToyOperationOverHTTP checks that the server runs the operation.
func TestToyOperationOverHTTP(t *testing.T) {
	s := sidecar.New(sidecar.Config{Log: &eventlog.Memory{}, Token: "secret", Adapters: map[string]adapters.Adapter{"toy": toyServed{}}})
	h := httptest.NewServer(s)
	defer h.Close()
	post := func(path, body string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer secret")
		resp, err := h.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode
	}
	if got := post("/sessions", `{"session_id":"s"}`); got != http.StatusCreated {
		t.Fatalf("open: status %d", got)
	}
	if got := post("/sessions/s/do", `{"do":"pin","message_id":"m1"}`); got != http.StatusAccepted {
		t.Errorf("pin: status %d", got)
	}
	if got := post("/sessions/s/do", `{"do":"pin"}`); got != http.StatusBadRequest {
		t.Errorf("pin without its message: status %d", got)
	}
}
