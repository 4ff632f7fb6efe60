package session_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/proc"
)

// fakeProcess is a process in memory that records what it receives.
type fakeProcess struct {
	*fakeproc.Process
	began    time.Time
	stubborn bool // ends by SIGKILL only
	mu       sync.Mutex
	signals  []string
	got      []string // lines written to it
}

func newFakeProcess() *fakeProcess {
	f := &fakeProcess{Process: fakeproc.New(), began: time.Now()}
	f.Survives = func(s proc.Signal) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.signals = append(f.signals, fmt.Sprintf("%s@%v", s, time.Since(f.began)))
		return f.stubborn && s != proc.SIGKILL
	}
	return f
}

// serveStdin reads the client's lines and passes each to on. At the end of
// stdin, a process that is not stubborn exits.
func (f *fakeProcess) serveStdin(on func(line string)) {
	sc := bufio.NewScanner(f.In)
	for sc.Scan() {
		f.mu.Lock()
		f.got = append(f.got, sc.Text())
		f.mu.Unlock()
		on(sc.Text())
	}
	if !f.stubborn {
		f.Exit(proc.Exit{})
	}
}

func (f *fakeProcess) received() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

// wordProtocol is a protocol of single words.
type wordProtocol struct {
	h     session.Host
	steer func(error)
}

func (w *wordProtocol) Start() { w.h.Write([]byte("hello")) }

func (w *wordProtocol) Line(b []byte) {
	l := w.h.Ledger()
	cmd, arg, _ := strings.Cut(string(b), " ")
	switch cmd {
	case "ready":
		l.SessionReady(event.SessionReady{Runtime: "words"})
		w.h.Ready(nil)
	case "turn":
		l.TurnStart(event.TurnStart{Cause: event.CauseUser})
	case "d":
		l.Turn().Delta("b", "b", arg)
	case "ask":
		l.Turn().Permission(event.PermissionRequest{RequestID: arg})
	case "end":
		l.Done(event.Done{})
	case "queue":
		l.Queue([]string{arg})
	case "steered":
		w.steer(nil)
	}
}
func (w *wordProtocol) Send(m adapters.Message, reply func(error)) {
	w.h.Write([]byte("send " + m.ID))
	reply(nil)
}
func (w *wordProtocol) Steer(m adapters.Message, reply func(error)) {
	w.steer = reply
	w.h.Write([]byte("steer " + m.ID))
}
func (w *wordProtocol) Stop(reply func(error)) { w.h.Write([]byte("stop")); reply(nil) }
func (w *wordProtocol) Answer(id string, a adapters.Answer, reply func(error)) {
	w.h.Write([]byte("answer " + id))
	w.h.Ledger().Resolve(id, a.Decision, a.By, nil)
	reply(nil)
}
func (w *wordProtocol) Ping()        { w.h.Write([]byte("ping")) }
func (w *wordProtocol) Paused() bool { return false }
func (w *wordProtocol) Closing()     { w.h.Write([]byte("closing")) }

func openSession(f *fakeProcess, o adapters.Options) (*session.Session, error) {
	o.Launch = f
	s, _, err := session.Open(context.Background(), o, proc.Command{}, event.SessionReady{SessionID: "s"},
		func(h session.Host) *wordProtocol { return &wordProtocol{h: h} })
	return s, err
}

// kinds lists the types of events with the data that matters here.
func kinds(evs []event.Event) []string {
	var out []string
	for _, e := range evs {
		s := string(e.Type())
		switch d := e.Data.(type) {
		case event.Delta:
			s += " " + d.Text
		case event.Error:
			s += " " + string(d.Code)
		case event.SessionEnd:
			s += " " + d.Reason
		case event.Notice:
			s += " " + string(d.Code)
		case event.BlockEnd:
			s += " " + string(d.Status)
		case event.PermissionResolved:
			s += " " + string(d.By)
		}
		out = append(out, s)
	}
	return out
}

// runSession runs a session in a bubble: on is the process, client the client.
// The bubble fails if a goroutine is left behind.
func runSession(t *testing.T, f func() *fakeProcess, o adapters.Options, on func(f *fakeProcess, line string), client func(f *fakeProcess, s *session.Session, evs <-chan event.Event)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := f()
		go p.serveStdin(func(l string) { on(p, l) })
		s, err := openSession(p, o)
		if err != nil {
			t.Error(err)
			return
		}
		client(p, s, s.Events())
		_ = s.Close(context.Background())
	})
}

func readAll(evs <-chan event.Event) (out []event.Event) {
	for e := range evs {
		out = append(out, e)
	}
	return out
}

// readUntil reads to the first event of a type.
func readUntil(evs <-chan event.Event, ty event.Type) (out []event.Event) {
	for e := range evs {
		if out = append(out, e); e.Type() == ty {
			break
		}
	}
	return out
}

var ctx = context.Background()

func TestListenerMaySteerAndCloseWhileEventsWait(t *testing.T) {
	var steered error
	var elapsed time.Duration
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			f.Print("turn")
			go func() {
				for range 900 { // more than the session emits ahead of its listener
					f.Print("d a")
				}
			}()
		case "steer m2":
			f.Print("d e", "steered", "d f")
		}
	}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		readUntil(evs, event.TypeDelta)
		synctest.Wait() // until the ring is full
		steered = s.Steer(ctx, adapters.Message{ID: "m2"})
		at := time.Now()
		_ = s.Close(ctx) // the listener is this goroutine
		elapsed = time.Since(at)
	})
	g := NewWithT(t)
	g.Expect(steered).NotTo(HaveOccurred())
	g.Expect(elapsed).To(Equal(5*time.Second), "Limits.Term after the process has ended")
}

// TestCloseWaitsForRoomInTheChannel closes sessions without a listener. Close returns at
// once if the channel holds all events, and they can be read after it.
func TestCloseWaitsForRoomInTheChannel(t *testing.T) {
	for _, c := range []struct {
		deltas  int
		elapsed time.Duration
		last    event.Type
	}{
		{50, 0, event.TypeSessionEnd},
		{100, 5 * time.Second, event.TypeDelta}, // Limits.Term; what the channel has no room for is dropped
	} {
		var elapsed time.Duration
		var got []event.Event
		runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
			switch l {
			case "hello":
				f.Print("ready")
			case "send m0":
				f.Print("turn")
				for range c.deltas {
					f.Print("d a")
				}
			}
		}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
			_ = s.Send(ctx, adapters.Message{ID: "m0"})
			synctest.Wait()
			at := time.Now()
			_ = s.Close(ctx)
			elapsed = time.Since(at)
			got = readAll(evs)
		})
		g := NewWithT(t)
		g.Expect(elapsed).To(Equal(c.elapsed), "%d deltas", c.deltas)
		g.Expect(got[len(got)-1].Type()).To(Equal(c.last), "%d deltas", c.deltas)
	}
}

func TestUnansweredSteerReturnsWhenTheProcessExits(t *testing.T) {
	var steered error
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			f.Print("turn", "d a", "d b")
		case "steer m2":
			f.Exit(proc.Exit{Code: 3})
		}
	}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		readUntil(evs, event.TypeTurnStart)
		steered = s.Steer(ctx, adapters.Message{ID: "m2"})
		readAll(evs)
	})
	NewWithT(t).Expect(steered).To(MatchError(adapters.ErrClosed))
}

func TestReadAheadIsBoundedWhileACallerWaits(t *testing.T) {
	var steered error
	var depth int
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			f.Print("turn")
		case "steer m2":
			go func() {
				for range 5000 {
					f.Print("d x")
				}
				f.Print("end")
			}()
		}
	}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		readUntil(evs, event.TypeTurnStart)
		steered = s.Steer(ctx, adapters.Message{ID: "m2"})
		synctest.Wait()
		depth, _ = s.Backlog()
		go readAll(evs)
	})
	g := NewWithT(t)
	g.Expect(steered).NotTo(HaveOccurred())
	g.Expect(depth).To(And(BeNumerically(">=", 1000), BeNumerically("<=", 1030)))
}

func TestSlowListenerReceivesEverythingAfterExit(t *testing.T) {
	var got []event.Event
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			go func() {
				f.Print("turn")
				for i := range 50 {
					f.Print(fmt.Sprint("d ", i))
				}
				f.Print("end")
				f.Exit(proc.Exit{})
			}()
		}
	}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		for e := range evs {
			got = append(got, e)
			time.Sleep(3 * time.Second)
		}
	})
	g := NewWithT(t)
	g.Expect(kinds(got)).To(HaveLen(1 + 2 + 50 + 2 + 1))
	g.Expect(kinds(got)).To(ContainElement("delta 49"))
	g.Expect(kinds(got)[len(got)-1]).To(Equal("session_end exited"))
}

// crash returns the events of a session whose runtime writes lines for the first message
// and exits, and the error of another message.
func crash(t *testing.T, exit proc.Exit, lines ...string) (got []event.Event, after error) {
	t.Helper()
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			f.Print(lines...)
			f.PrintErr("panic: it broke")
			f.Exit(exit)
		}
	}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		got = readAll(evs)
		after = s.Send(ctx, adapters.Message{ID: "m2"})
	})
	return got, after
}

func TestCrashEndsTheTurnInAnError(t *testing.T) {
	g := NewWithT(t)
	got, after := crash(t, proc.Exit{Code: -1, Signal: proc.SIGKILL}, "turn", "d half", "ask q")
	g.Expect(kinds(got)).To(Equal([]string{"session_ready", "turn_start", "thinking", "delta half", "permission_request",
		"block_end interrupted", "permission_resolved withdrawn", "error crash", "session_end crashed"}))
	g.Expect(got[7].Data.(event.Error).Message).To(ContainSubstring("panic: it broke"))
	g.Expect(after).To(MatchError(adapters.ErrClosed))
}

func TestCrashReportsAMessageThatNoTurnTook(t *testing.T) {
	g := NewWithT(t)
	got, _ := crash(t, proc.Exit{Code: 3}, "turn", "end", "queue m1")
	g.Expect(kinds(got)).To(Equal([]string{"session_ready", "turn_start", "thinking", "done", "queue", "error crash", "session_end crashed"}))
	g.Expect(got[5].Turn).To(BeZero())
	g.Expect(got[5].Data.(event.Error).Message).To(HavePrefix("the runtime exited before a turn took the message: "))
}

func TestLimitsAreExact(t *testing.T) {
	g := NewWithT(t)
	t.Run("handshake", func(t *testing.T) {
		var err error
		var p *fakeProcess
		var elapsed time.Duration
		synctest.Test(t, func(*testing.T) {
			p = newFakeProcess()
			p.stubborn = true
			go p.serveStdin(func(string) {})
			at := time.Now()
			_, err = openSession(p, adapters.Options{})
			elapsed = time.Since(at)
		})
		var oe *adapters.OpenError
		g.Expect(errors.As(err, &oe)).To(BeTrue())
		g.Expect(oe.Code).To(Equal(event.ErrorTimeout))
		g.Expect(p.signals).To(Equal([]string{"SIGTERM@32s", "SIGKILL@37s"}))
		g.Expect(elapsed).To(Equal(37 * time.Second))
	})
	for name, closes := range map[string]time.Duration{"early": 10 * time.Second, "just before the limit": 29 * time.Second} {
		t.Run("stdout closed in the handshake, "+name, func(t *testing.T) {
			var err error
			synctest.Test(t, func(*testing.T) {
				p := newFakeProcess()
				p.stubborn = true
				go p.serveStdin(func(string) {})
				go func() { time.Sleep(closes); p.CloseStdout() }()
				_, err = openSession(p, adapters.Options{})
			})
			var oe *adapters.OpenError
			g.Expect(errors.As(err, &oe)).To(BeTrue())
			g.Expect(oe.Code).To(Equal(event.ErrorCrash))
			g.Expect(oe).To(MatchError(ContainSubstring("closed its stdout")))
		})
	}
	t.Run("stop", func(t *testing.T) {
		g.Expect(endOfSilentTurn(t, func(s *session.Session) { _ = s.Stop(ctx); _ = s.Stop(ctx) }, nil)).To(Equal("error timeout@10s"))
	})
	t.Run("stop, and another turn follows at once", func(t *testing.T) {
		g.Expect(endOfSilentTurn(t, func(s *session.Session) { _ = s.Stop(ctx) }, func(f *fakeProcess, l string) {
			if l == "stop" {
				f.Print("turn") // a turn for a waiting message: the stopped turn has ended
			}
		})).To(Equal("error timeout@2m30s"))
	})
	t.Run("silence", func(t *testing.T) {
		g.Expect(endOfSilentTurn(t, nil, nil)).To(Equal("error timeout@2m30s"))
	})
	t.Run("silence that a sign of life breaks", func(t *testing.T) {
		n := 0
		g.Expect(endOfSilentTurn(t, nil, func(f *fakeProcess, l string) {
			if n++; l == "ping" && n == 1 {
				f.Print("pong")
			}
		})).To(Equal("error timeout@4m30s"))
	})
	t.Run("stdout closed", func(t *testing.T) {
		g.Expect(endOfSilentTurn(t, nil, func(*fakeProcess, string) {}, "close")).To(Equal("error crash@2s"))
	})
}

// endOfSilentTurn returns how and when a silent turn ends.
func endOfSilentTurn(t *testing.T, client func(*session.Session), on func(*fakeProcess, string), how ...string) string {
	t.Helper()
	var out string
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch {
		case l == "hello":
			f.Print("ready")
		case l == "send m1":
			f.Print("turn")
			if len(how) > 0 {
				f.CloseStdout()
			}
		case on != nil:
			on(f, l)
		}
	}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		readUntil(evs, event.TypeTurnStart)
		at := time.Now()
		if client != nil {
			client(s)
		}
		for e := range evs {
			if e.Terminal() {
				out = fmt.Sprintf("%s@%v", kinds([]event.Event{e})[0], time.Since(at))
			}
		}
	})
	return out
}

func TestCloseResolvesQuestionsThenClosesStdin(t *testing.T) {
	var got []event.Event
	var received []string
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			f.Print("turn", "d a", "ask q")
		}
	}, func(f *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		readUntil(evs, event.TypePermissionRequest)
		rest := make(chan []event.Event)
		go func() { rest <- readAll(evs) }()
		_ = s.Close(ctx)
		_ = s.Close(ctx)
		got, received = <-rest, f.received()
	})
	g := NewWithT(t)
	g.Expect(received).To(Equal([]string{"hello", "send m1", "closing"}))
	g.Expect(kinds(got)).To(Equal([]string{"block_end interrupted", "permission_resolved withdrawn", "done", "session_end closed"}))
}

func TestLongLineIsSkippedWithANotice(t *testing.T) {
	var got []event.Event
	runSession(t, newFakeProcess, adapters.Options{Limits: adapters.Limits{Line: 100 << 10}}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			f.Print("turn", "d "+strings.Repeat("x", 200<<10), "d y", "end")
		}
	}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		got = readUntil(evs, event.TypeDone)
		go readAll(evs)
	})
	NewWithT(t).Expect(kinds(got)).To(Equal([]string{"session_ready", "turn_start", "thinking", "notice long_line", "delta y",
		"block_end interrupted", "done"}))
}

func TestOpenFailsIfTheRuntimeExitsFirst(t *testing.T) {
	var err error
	synctest.Test(t, func(*testing.T) {
		p := newFakeProcess()
		go p.serveStdin(func(string) {
			p.PrintErr("bad flag")
			p.Exit(proc.Exit{Code: 2})
		})
		_, err = openSession(p, adapters.Options{})
	})
	var oe *adapters.OpenError
	g := NewWithT(t)
	g.Expect(errors.As(err, &oe)).To(BeTrue())
	g.Expect(*oe.Exit).To(Equal(2))
	g.Expect(oe.Stderr).To(Equal("bad flag"))
	g.Expect(oe.Code).To(Equal(event.ErrorStartFailure))
}

func TestAnswersReachTheRuntimeOnce(t *testing.T) {
	var errs []error
	var received []string
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			f.Print("turn", "ask q", "d more")
		}
	}, func(f *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		readUntil(evs, event.TypePermissionRequest)
		for range 2 {
			errs = append(errs, s.Answer(ctx, "q", adapters.Answer{Decision: event.DecisionAllow}))
		}
		synctest.Wait()
		received = f.received()
		go readAll(evs)
	})
	g := NewWithT(t)
	g.Expect(errs[0]).NotTo(HaveOccurred())
	g.Expect(errs[1]).To(MatchError(adapters.ErrUnknownID))
	g.Expect(received).To(Equal([]string{"hello", "send m1", "answer q"}))
}

// TestAnswersAreJSON checks that an answer that is no JSON does not reach the runtime, whose line
// could not be written.
func TestAnswersAreJSON(t *testing.T) {
	var errs []error
	var received []string
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m1":
			f.Print("turn", "ask q")
		}
	}, func(f *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m1"})
		readUntil(evs, event.TypePermissionRequest)
		for _, a := range []adapters.Answer{{Value: event.Raw(`{"a":`)}, {Input: event.Raw("x")}, {Value: event.Raw(`{"a":1}`)}} {
			errs = append(errs, s.Answer(ctx, "q", a))
		}
		synctest.Wait()
		received = f.received()
		go readAll(evs)
	})
	g := NewWithT(t)
	g.Expect(errs).To(HaveExactElements(MatchError(ContainSubstring("not JSON")), MatchError(ContainSubstring("not JSON")), BeNil()))
	g.Expect(received).To(Equal([]string{"hello", "send m1", "answer q"}))
}
