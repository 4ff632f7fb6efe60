package registry_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/internal/codex"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/registry"
)

// scriptedRuntime is a runtime that replies to lines of stdin.
type scriptedRuntime struct {
	replies [][2]string                           // a part of a line of stdin, and the lines that follow
	async   func(input string, emit func(string)) // called for each line, beside the replies
	inputs  []string
	keepsOn bool   // does not exit when its stdin is closed
	exitsOn string // a part of the line on which it exits
}

func (s *scriptedRuntime) Launch(context.Context, proc.Command) (proc.Process, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	p := &process{in: inW, out: outR, err: errR, killed: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		defer func() { _ = errW.Close(); _ = outW.Close(); _ = inR.Close() }()
		go func() { <-p.killed; _ = inR.Close(); _ = outW.Close() }()
		for lines := bufio.NewScanner(inR); lines.Scan(); {
			s.inputs = append(s.inputs, lines.Text())
			if s.exitsOn != "" && strings.Contains(lines.Text(), s.exitsOn) {
				return
			}
			if s.async != nil {
				go s.async(lines.Text(), func(line string) { _, _ = io.WriteString(outW, line) })
			}
			for _, r := range s.replies {
				if strings.Contains(lines.Text(), r[0]) {
					if _, err := io.WriteString(outW, r[1]); err != nil {
						return
					}
				}
			}
		}
		if s.keepsOn {
			<-p.killed
		}
	}()
	return p, nil
}

type process struct {
	in            io.WriteCloser
	out, err      io.Reader
	killed, ended chan struct{}
	once          sync.Once
}

func (p *process) Stdin() io.WriteCloser { return p.in }
func (p *process) Stdout() io.Reader     { return p.out }
func (p *process) Stderr() io.Reader     { return p.err }
func (p *process) Wait() proc.Exit       { <-p.ended; return proc.Exit{} }
func (p *process) Signal(proc.Signal) error {
	p.once.Do(func() { close(p.killed) })
	return nil
}

// heldModel is a model that reaches its hold when reach is called.
type heldModel struct {
	mu       sync.Mutex
	text     string
	open     bool
	changed  chan struct{}
	released []string
}

func newModel(text string) *heldModel { return &heldModel{text: text, changed: make(chan struct{})} }

func (h *heldModel) URL() string { return "http://127.0.0.1:1" }
func (h *heldModel) Holding(string) (string, string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text, "", h.open
}
func (h *heldModel) Release(name string) { h.released = append(h.released, name) }
func (h *heldModel) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

func (h *heldModel) reach() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = true
	close(h.changed)
	h.changed = make(chan struct{})
}

func parseScenario(t *testing.T, needs, client string) *fixtures.Scenario {
	t.Helper()
	s, err := fixtures.ParseScenario("s.txtar", "text/s", []byte("It happens.\n\n-- scenario --\ntopic: text\n"+needs+"-- client --\n"+client+"-- model --\n"+reply+"-- workspace/in/a.txt --\nalpha\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// record performs the scenario and returns the wire.
func record(t *testing.T, runtime string, s *fixtures.Scenario, r *scriptedRuntime, m drive.Model) ([]string, error) {
	t.Helper()
	var wire []string
	work := t.TempDir()
	rt, err := registry.Get(runtime)
	if err != nil {
		return nil, err
	}
	err = drive.Run(t.Context(), drive.Options{
		Scenario: s, Runtime: rt, Version: "9.9.9", Binary: "/x/" + runtime, Work: work, Model: m, Launcher: r,
		Tee: func(l fixtures.WireLine) { wire = append(wire, fmt.Sprintf("%s %s", l.Dir, l.Bytes)) },
	})
	return wire, err
}

func indexOf(wire []string, part string) int {
	for i, l := range wire {
		if strings.Contains(l, part) {
			return i
		}
	}
	return -1
}

const reply = `[{"text":["a b"]},{"hold":"h1"}]` + "\n"

// opening are the replies of a Codex server to the requests that open a session.
var opening = [][2]string{
	{`"initialize"`, `{"id":1,"result":{}}` + "\n" + `{"method":"remoteControl/status/changed","params":{}}` + "\n"},
	{`"thread/start"`, `{"id":2,"result":{"thread":{"id":"T"}}}` + "\n" + `{"method":"thread/started","params":{"threadId":"T"}}` + "\n"},
}

func codexServer(more ...[2]string) *scriptedRuntime {
	return &scriptedRuntime{replies: append(append([][2]string{}, opening...), more...)}
}

// The one turn of the codex servers: request 3 starts it.
const (
	started = `{"id":3,"result":{"turn":{"id":"U"}}}` + "\n" + `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}` + "\n"

	completed = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U"}}}` + "\n"
)

func TestStopWaitsForTextAndHold(t *testing.T) {
	delta := `{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"U","itemId":"i","delta":%q}}` + "\n"
	for _, modelFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			m := newModel("a b")
			r := codexServer(
				[2]string{`"turn/start"`, started + fmt.Sprintf(delta, "a ")},
				[2]string{`"turn/interrupt"`, `{"id":4,"result":{}}` + "\n" + completed},
			)
			r.async = func(input string, emit func(string)) {
				if !strings.Contains(input, `"turn/start"`) {
					return
				}
				first, second := func() { emit(fmt.Sprintf(delta, "b")) }, m.reach
				if modelFirst {
					first, second = second, first
				}
				time.Sleep(time.Second)
				first()
				time.Sleep(time.Second)
				second()
			}
			var wire []string
			began := time.Now()
			var stopped time.Duration
			err := drive.Run(t.Context(), drive.Options{
				Scenario: parseScenario(t, "", "send m1: Go.\nwait hold h1\nstop\nwait end m1\n"),
				Runtime:  codex.Runtime, Binary: "codex", Work: t.TempDir(), Model: m, Launcher: r,
				Tee: func(l fixtures.WireLine) {
					wire = append(wire, string(l.Bytes))
					if strings.Contains(string(l.Bytes), "turn/interrupt") {
						stopped = time.Since(began)
					}
				},
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(stopped).To(Equal(2*time.Second), "model first: %v", modelFirst)
			g.Expect(indexOf(wire, `"delta":"b"`)).To(BeNumerically("<", indexOf(wire, "turn/interrupt")))
		})
	}
}

func TestMessageDuringTurnIsPartOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		m := newModel("")
		m.open = true
		r := codexServer(
			[2]string{`"clientUserMessageId":"m1"`, started},
			[2]string{`"clientUserMessageId":"m2"`, `{"id":4,"result":{"turn":{"id":"U"}}}` + "\n" + completed},
		)
		wire, err := record(t, "codex", parseScenario(t, "", "send m1: Go.\nwait hold h1\nsend m2: More.\nwait end m2\n"), r, m)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(indexOf(wire, `"m2"`)).To(BeNumerically("<", indexOf(wire, completed[:40])))
		g.Expect(wire[len(wire)-2:]).To(Equal([]string{"eof ", "exit "}))
	})
}

func TestUnsupportedRequestGetsErrorReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := codexServer([2]string{`"turn/start"`, `{"id":0,"method":"item/tool/call","params":{}}` + "\n" + started + completed})
		_, err := record(t, "codex", parseScenario(t, "", "send m1: Go.\nwait end m1\n"), r, newModel(""))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(strings.Join(r.inputs, "\n")).To(ContainSubstring(`{"id":0,"error":{"code":-32601`))

		c := &scriptedRuntime{replies: [][2]string{
			{`"initialize"`, `{"type":"control_request","request_id":"q","request":{"subtype":"mcp_message"}}` + "\n" + `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{}}}` + "\n"},
		}}
		_, err = record(t, "claude", parseScenario(t, "", "wait idle\n"), c, newModel(""))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(strings.Join(c.inputs, "\n")).To(ContainSubstring(`{"subtype":"error","request_id":"q"`))
	})
}

func TestTimeoutNamesTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		began := time.Now()
		r := codexServer([2]string{`"turn/start"`, started})
		r.keepsOn = true
		_, err := record(t, "codex", parseScenario(t, "", "send m1: Go.\nwait end m1\n"), r, newModel(""))
		g.Expect(err).To(MatchError(HavePrefix("s.txtar:7: wait end m1: waiting for end m1: the run took longer than 1m0s")))
		g.Expect(err).To(MatchError(ContainSubstring("turn/started")), "the last lines of the wire")
		g.Expect(time.Since(began)).To(Equal(drive.DefaultDeadline))
	})
}

func TestUnexpectedExitIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := codexServer()
		r.exitsOn = "turn/start"
		_, err := record(t, "codex", parseScenario(t, "", "send m1: Go.\nwait end m1\n"), r, newModel(""))
		g.Expect(err).To(MatchError(ContainSubstring("the runtime exited by itself")))
	})
}

func TestRuntimeThatDoesNotExitIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := codexServer()
		r.keepsOn = true
		_, err := record(t, "codex", parseScenario(t, "", "close\n"), r, newModel(""))
		g.Expect(err).To(MatchError(ContainSubstring("it has not exited within 15s")))
	})
}

func TestCancelEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
		err := drive.Run(ctx, drive.Options{
			Scenario: parseScenario(t, "", "send m1: Go.\n"), Runtime: codex.Runtime, Binary: "codex", Work: t.TempDir(),
			Model: newModel(""), Launcher: codexServer(),
		})
		g.Expect(err).To(MatchError(ContainSubstring("enough")))
	})
}

func TestWorkspaceIsWritten(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	err := drive.Run(t.Context(), drive.Options{
		Scenario: parseScenario(t, "", "close\n"), Runtime: codex.Runtime, Binary: "codex", Work: dir, Model: newModel(""), Launcher: codexServer(),
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.ReadFile(filepath.Join(dir, "in", "a.txt"))).To(BeEquivalentTo("alpha\n"))
}

func TestUnsupportedNeedsAreRejected(t *testing.T) {
	g := NewWithT(t)
	_, err := record(t, "claude", parseScenario(t, "needs: steer\n", ""), codexServer(), newModel(""))
	g.Expect(err).To(MatchError(ContainSubstring("text/s is not for claude 9.9.9: it has no steer")))
	_, err = record(t, "codex", parseScenario(t, "not on codex: it cannot\n", ""), codexServer(), newModel(""))
	g.Expect(err).To(MatchError(ContainSubstring("text/s is not for codex 9.9.9: it cannot")))
	_, err = record(t, "other", parseScenario(t, "", ""), codexServer(), newModel(""))
	g.Expect(err).To(MatchError(ContainSubstring(`no client for runtime "other"`)))
}
