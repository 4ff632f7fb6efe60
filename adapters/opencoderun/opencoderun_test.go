package opencoderun

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/proc"
)

// scripted starts a process for each turn, which run plays.
type scripted struct {
	argv [][]string
	run  func(n int, prompt string, p *fakeproc.Process)
}

func (s *scripted) Launch(_ context.Context, c proc.Command) (proc.Process, error) {
	p := fakeproc.New()
	if c.Argv[len(c.Argv)-1] == "--version" {
		go func() {
			p.Print("1.18.33")
			p.Exit(proc.Exit{})
		}()
		return p, nil
	}
	s.argv = append(s.argv, c.Argv)
	n := len(s.argv)
	go func() {
		b, _ := io.ReadAll(bufio.NewReader(p.In))
		s.run(n, string(b), p)
	}()
	return p, nil
}

func stepLines(id, text, reason string) []string {
	return []string{
		`{"type":"step_start","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1","type":"step-start"}}`,
		fmt.Sprintf(`{"type":"text","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_2%s","messageID":"msg_1","type":"text","text":%q,"time":{"start":1,"end":2}}}`, id, text),
		fmt.Sprintf(`{"type":"step_finish","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_3","messageID":"msg_1","type":"step-finish","reason":%q}}`, reason),
	}
}

// summary writes events in a line each.
func summary(evs []event.Event, began time.Time) []string {
	var out []string
	for _, e := range evs {
		s := string(e.Type())
		switch d := e.Data.(type) {
		case event.SessionReady:
			s += " " + d.ProviderSessionID + " " + d.RuntimeVersion
		case event.TurnStart:
			s += " " + strings.Join(d.MessageIDs, ",")
		case event.Queue:
			s += " " + strings.Join(d.MessageIDs, ",")
		case event.Delta:
			s += " " + d.Text
		case event.Notice:
			s += " " + string(d.Code) + " " + d.Text
		case event.Error:
			s += " " + string(d.Code)
		case event.Done:
			s += fmt.Sprintf(" stopped=%v at %v", d.Stopped, e.TS.Sub(began))
		case event.SessionEnd:
			s += " " + d.Reason
		case event.Thinking, event.BlockEnd, event.UserMessage, event.Result, event.Usage:
			continue
		}
		out = append(out, s)
	}
	return out
}

// session runs client in a bubble with a session on scripted processes, and returns the events.
func runSession(t *testing.T, run func(n int, prompt string, p *fakeproc.Process), client func(s adapters.Session)) (events []string, argv [][]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &scripted{run: run}
		o := adapters.Options{Launch: l, Env: []string{"OPENCODE_PATH=opencode"}}
		began := time.Now()
		s, err := New().Open(t.Context(), o)
		if err != nil {
			t.Error(err)
			return
		}
		var got []event.Event
		read := make(chan struct{})
		go func() {
			for e := range s.Events() {
				got = append(got, e)
			}
			close(read)
		}()
		client(s)
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		<-read
		events, argv = summary(got, began), l.argv
	})
	return events, argv
}

func send(s adapters.Session, id string) error {
	return s.Send(context.Background(), adapters.Message{ID: id, Text: "text of " + id})
}

// TestSlowExit checks that a turn ends with its line, and that the next message waits for the end of
// the process and resumes the session.
func TestSlowExit(t *testing.T) {
	g := NewWithT(t)
	events, argv := runSession(t, func(_ int, prompt string, p *fakeproc.Process) {
		time.Sleep(time.Second)
		p.Print(stepLines("", prompt, "stop")...)
		time.Sleep(5 * time.Second)
		p.Exit(proc.Exit{})
	}, func(s adapters.Session) {
		g.Expect(send(s, "m1")).To(Succeed())
		time.Sleep(2 * time.Second)
		g.Expect(send(s, "m2")).To(Succeed())
		time.Sleep(20 * time.Second)
	})
	g.Expect(events).To(Equal([]string{
		"session_ready ses_1 1.18.33", "turn_start m1", "delta text of m1", "done stopped=false at 1s",
		"turn_start m2", "delta text of m2", "done stopped=false at 7s", "session_end closed",
	}))
	run := []string{"opencode", "run", "--format", "json", "--thinking", "--dangerously-skip-permissions"}
	g.Expect(argv).To(Equal([][]string{run, append(slices.Clone(run), "--session", "ses_1")}))
}

// TestRepliesWithoutAnEnd checks that a turn ends in an error after five replies without an end, after
// each of which the runtime asks its model again.
func TestRepliesWithoutAnEnd(t *testing.T) {
	g := NewWithT(t)
	events, _ := runSession(t, func(_ int, _ string, p *fakeproc.Process) {
		for i := range 5 {
			p.Print(stepLines(fmt.Sprint(i), "a", "unknown")...)
		}
	}, func(s adapters.Session) {
		g.Expect(send(s, "m1")).To(Succeed())
		time.Sleep(time.Second)
	})
	g.Expect(events).To(Equal([]string{
		"session_ready ses_1 1.18.33", "turn_start m1", "delta a", "delta a", "delta a", "delta a", "delta a", "error network", "session_end closed",
	}))
}

// TestErrorWithExitZero checks that an error ends the turn although the process exits with 0, as that
// of 1.15 does.
func TestErrorWithExitZero(t *testing.T) {
	g := NewWithT(t)
	events, _ := runSession(t, func(_ int, _ string, p *fakeproc.Process) {
		p.Print(`{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"APIError","data":{"message":"no","statusCode":401}}}`)
		p.Exit(proc.Exit{})
	}, func(s adapters.Session) {
		g.Expect(send(s, "m1")).To(Succeed())
		time.Sleep(time.Second)
	})
	g.Expect(events).To(Equal([]string{"session_ready ses_1 1.18.33", "turn_start m1", "error auth", "session_end closed"}))
}

// TestSilenceBetweenSteps checks that a runtime that asks its model again and again, of which it prints
// nothing, is given up, and that a tool may run for longer: until the client closes the session.
func TestSilenceBetweenSteps(t *testing.T) {
	for name, lines := range map[string][]string{"error timeout": nil, "done stopped=true at 1h0m2s": stepLines("", "a", "stop")[:2]} {
		g := NewWithT(t)
		events, _ := runSession(t, func(_ int, _ string, p *fakeproc.Process) {
			p.Print(lines...)
		}, func(s adapters.Session) {
			g.Expect(send(s, "m1")).To(Succeed())
			time.Sleep(time.Hour)
		})
		g.Expect(events).To(ContainElement(name))
	}
}
