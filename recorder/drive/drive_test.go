package drive

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
)

// script is a runtime that answers lines: for each line of stdin that holds a
// key's words it says the value's lines.
type script struct {
	says  [][2]string                          // words of a line of stdin → what is said
	later func(heard string, say func(string)) // beside the answers, in its own time
	hears []string
	stays bool // does not end when its stdin is closed
	ends  string
}

func (s *script) Launch(context.Context, proc.Command) (proc.Process, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	p := &process{in: inW, out: outR, err: errR, killed: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		defer func() { _ = errW.Close(); _ = outW.Close(); _ = inR.Close() }()
		go func() { <-p.killed; _ = inR.Close(); _ = outW.Close() }()
		for lines := bufio.NewScanner(inR); lines.Scan(); {
			s.hears = append(s.hears, lines.Text())
			if s.ends != "" && strings.Contains(lines.Text(), s.ends) {
				return
			}
			if s.later != nil {
				go s.later(lines.Text(), func(line string) { _, _ = io.WriteString(outW, line) })
			}
			for _, r := range s.says {
				if strings.Contains(lines.Text(), r[0]) {
					if _, err := io.WriteString(outW, r[1]); err != nil {
						return
					}
				}
			}
		}
		if s.stays {
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

// holds is a model that stands at a hold once its moment has come.
type holds struct {
	mu       sync.Mutex
	text     string
	open     bool
	changed  chan struct{}
	released []string
}

func newHolds(text string) *holds { return &holds{text: text, changed: make(chan struct{})} }

func (h *holds) URL() string { return "http://127.0.0.1:1" }
func (h *holds) Holding(string) (string, string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text, "", h.open
}
func (h *holds) Release(name string) { h.released = append(h.released, name) }
func (h *holds) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

func (h *holds) stand() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = true
	close(h.changed)
	h.changed = make(chan struct{})
}

func scenario(t *testing.T, needs, client string) *fixtures.Scenario {
	t.Helper()
	s, err := fixtures.ParseScenario("s.txtar", "text/s", []byte("It happens.\n\n-- scenario --\ntopic: text\n"+needs+"-- client --\n"+client+"-- model --\n"+reply+"-- workspace/in/a.txt --\nalpha\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play performs the scenario in a bubble and returns the wire.
func play(t *testing.T, runtime string, s *fixtures.Scenario, r *script, m Model) ([]string, error) {
	t.Helper()
	var wire []string
	work := t.TempDir()
	err := Run(t.Context(), Options{
		Scenario: s, Runtime: runtime, Version: "9.9.9", Binary: "/x/" + runtime, Work: work, Model: m, Launcher: r,
		Tee: func(l fixtures.WireLine) { wire = append(wire, fmt.Sprintf("%s %s", l.Dir, l.Bytes)) },
	})
	return wire, err
}

func index(wire []string, words string) int {
	for i, l := range wire {
		if strings.Contains(l, words) {
			return i
		}
	}
	return -1
}

const reply = `[{"text":["a b"]},{"hold":"h1"}]` + "\n"

// greets is the part of a Codex server that every test needs.
var greets = [][2]string{
	{`"initialize"`, `{"id":1,"result":{}}` + "\n" + `{"method":"remoteControl/status/changed","params":{}}` + "\n"},
	{`"thread/start"`, `{"id":2,"result":{"thread":{"id":"T"}}}` + "\n" + `{"method":"thread/started","params":{"threadId":"T"}}` + "\n"},
}

func codexSays(more ...[2]string) *script {
	return &script{says: append(append([][2]string{}, greets...), more...)}
}

// The one turn of these scripts, U: begun by request 3, and ended.
const (
	started = `{"id":3,"result":{"turn":{"id":"U"}}}` + "\n" + `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}` + "\n"

	completed = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U"}}}` + "\n"
)

func TestStopWaitsForTheTextAndTheModel(t *testing.T) {
	delta := `{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"U","itemId":"i","delta":%q}}` + "\n"
	for _, modelFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			m := newHolds("a b")
			r := codexSays(
				[2]string{`"turn/start"`, started + fmt.Sprintf(delta, "a ")},
				[2]string{`"turn/interrupt"`, `{"id":4,"result":{}}` + "\n" + completed},
			)
			r.later = func(heard string, say func(string)) {
				if !strings.Contains(heard, `"turn/start"`) {
					return
				}
				first, second := func() { say(fmt.Sprintf(delta, "b")) }, m.stand
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
			err := Run(t.Context(), Options{
				Scenario: scenario(t, "", "send m1: Go.\nwait hold h1\nstop\nwait end m1\n"),
				Runtime:  "codex", Binary: "codex", Work: t.TempDir(), Model: m, Launcher: r,
				Tee: func(l fixtures.WireLine) {
					wire = append(wire, string(l.Bytes))
					if strings.Contains(string(l.Bytes), "turn/interrupt") {
						stopped = time.Since(began)
					}
				},
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(stopped).To(Equal(2*time.Second), "model first: %v", modelFirst)
			g.Expect(index(wire, `"delta":"b"`)).To(BeNumerically("<", index(wire, "turn/interrupt")))
		})
	}
}

func TestAMessageDuringATurnGoesIntoIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		m := newHolds("")
		m.open = true
		r := codexSays(
			[2]string{`"clientUserMessageId":"m1"`, started},
			[2]string{`"clientUserMessageId":"m2"`, `{"id":4,"result":{"turn":{"id":"U"}}}` + "\n" + completed},
		)
		wire, err := play(t, "codex", scenario(t, "", "send m1: Go.\nwait hold h1\nsend m2: More.\nwait end m2\n"), r, m)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(index(wire, `"m2"`)).To(BeNumerically("<", index(wire, completed[:40])))
		g.Expect(wire[len(wire)-2:]).To(Equal([]string{"eof ", "exit "}))
	})
}

func TestARequestThatTheDriverCannotAnswerGetsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := codexSays([2]string{`"turn/start"`, `{"id":0,"method":"item/tool/call","params":{}}` + "\n" + started + completed})
		_, err := play(t, "codex", scenario(t, "", "send m1: Go.\nwait end m1\n"), r, newHolds(""))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(strings.Join(r.hears, "\n")).To(ContainSubstring(`{"id":0,"error":{"code":-32601`))

		c := &script{says: [][2]string{
			{`"initialize"`, `{"type":"control_request","request_id":"q","request":{"subtype":"mcp_message"}}` + "\n" + `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{}}}` + "\n"},
		}}
		_, err = play(t, "claude", scenario(t, "", "wait idle\n"), c, newHolds(""))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(strings.Join(c.hears, "\n")).To(ContainSubstring(`{"subtype":"error","request_id":"q"`))
	})
}

func TestAStuckRunTellsWhatItWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		began := time.Now()
		r := codexSays([2]string{`"turn/start"`, started})
		r.stays = true
		_, err := play(t, "codex", scenario(t, "", "send m1: Go.\nwait end m1\n"), r, newHolds(""))
		g.Expect(err).To(MatchError(HavePrefix("s.txtar:7: wait end m1: waiting for end m1: the run took longer than 1m0s")))
		g.Expect(err).To(MatchError(ContainSubstring("turn/started")), "the last lines of the wire")
		g.Expect(time.Since(began)).To(Equal(DefaultDeadline))
	})
}

func TestAnEndThatNobodyAskedForIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := codexSays()
		r.ends = "turn/start"
		_, err := play(t, "codex", scenario(t, "", "send m1: Go.\nwait end m1\n"), r, newHolds(""))
		g.Expect(err).To(MatchError(ContainSubstring("the runtime has ended by itself")))
	})
}

func TestARuntimeThatStaysIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := codexSays()
		r.stays = true
		_, err := play(t, "codex", scenario(t, "", "close\n"), r, newHolds(""))
		g.Expect(err).To(MatchError(ContainSubstring("it has not ended in 15s")))
	})
}

func TestACancelledRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
		err := Run(ctx, Options{
			Scenario: scenario(t, "", "send m1: Go.\n"), Runtime: "codex", Binary: "codex", Work: t.TempDir(),
			Model: newHolds(""), Launcher: codexSays(),
		})
		g.Expect(err).To(MatchError(ContainSubstring("enough")))
	})
}

func TestWorkspaceIsLaidOut(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	s := scenario(t, "", "")
	g.Expect(layOut(dir, s.Workspace)).To(Succeed())
	b, err := os.ReadFile(filepath.Join(dir, "in", "a.txt"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(Equal("alpha\n"))
}

func TestNeedsWithoutConfigurationAreRefused(t *testing.T) {
	g := NewWithT(t)
	_, err := play(t, "claude", scenario(t, "needs: steer\n", ""), codexSays(), newHolds(""))
	g.Expect(err).To(MatchError(ContainSubstring("s.txtar: needs: claude has no configuration for \"steer\"")))
	_, err = play(t, "codex", scenario(t, "not on codex: it cannot\n", ""), codexSays(), newHolds(""))
	g.Expect(err).To(MatchError(ContainSubstring("text/s is not for codex 9.9.9: it cannot")))
	_, err = play(t, "other", scenario(t, "", ""), codexSays(), newHolds(""))
	g.Expect(err).To(MatchError(ContainSubstring(`no client for runtime "other"`)))
}

func TestMessageIDsMakeStableUUIDs(t *testing.T) {
	g := NewWithT(t)
	g.Expect(messageUUID("m1")).To(Equal("00000000-0000-4000-8000-000000006d31"))
	long := messageUUID("a-very-long-id")
	g.Expect(long).To(HaveLen(36))
	g.Expect(long).NotTo(Equal(messageUUID("another-long-id")))
	g.Expect(long).To(Equal(messageUUID("a-very-long-id")))
}
