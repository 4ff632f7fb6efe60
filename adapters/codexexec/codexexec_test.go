package codexexec

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/op"
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
			p.Print("codex-cli 0.169.0")
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

const (
	threadLine    = `{"type":"thread.started","thread_id":"th1"}`
	turnLine      = `{"type":"turn.started"}`
	completedLine = `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":1,"output_tokens":2}}`
)

func textLine(s string) string {
	return fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":%q}}`, s)
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
func runSession(t *testing.T, o adapters.Options, run func(n int, prompt string, p *fakeproc.Process), client func(s adapters.Session)) (events []string, argv [][]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &scripted{run: run}
		o.Launch, o.Env = l, []string{"CODEX_PATH=codex"}
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
// the process, which takes five seconds more.
func TestSlowExit(t *testing.T) {
	g := NewWithT(t)
	events, argv := runSession(t, adapters.Options{}, func(n int, prompt string, p *fakeproc.Process) {
		time.Sleep(time.Second)
		p.Print(threadLine, turnLine, textLine(prompt), completedLine)
		time.Sleep(5 * time.Second)
		p.Exit(proc.Exit{})
	}, func(s adapters.Session) {
		g.Expect(send(s, "m1")).To(Succeed())
		time.Sleep(2 * time.Second)
		g.Expect(send(s, "m2")).To(Succeed())
		time.Sleep(20 * time.Second)
	})
	g.Expect(events).To(Equal([]string{
		"session_ready th1 0.169.0", "turn_start m1", "delta text of m1", "done stopped=false at 1s",
		"turn_start m2", "delta text of m2", "done stopped=false at 7s", "session_end closed",
	}))
	g.Expect(argv).To(Equal([][]string{
		{"codex", "exec", "--json", "--skip-git-repo-check"},
		{"codex", "exec", "--json", "--skip-git-repo-check", "resume", "th1"},
	}))
}

// TestErrorsThatEndNothing checks warnings before the turn, retries, and an error after which the turn
// goes on.
func TestErrorsThatEndNothing(t *testing.T) {
	g := NewWithT(t)
	events, _ := runSession(t, adapters.Options{}, func(_ int, _ string, p *fakeproc.Process) {
		p.Print(threadLine, `{"type":"item.completed","item":{"id":"item_0","type":"error","message":"no metadata"}}`, turnLine,
			`{"type":"error","message":"Reconnecting... 1/5 (stream disconnected)"}`, `{"type":"error","message":"hm"}`, textLine("a"),
			`{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}`,
			`{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}`)
		p.Exit(proc.Exit{Code: 1})
	}, func(s adapters.Session) {
		g.Expect(send(s, "m1")).To(Succeed())
		time.Sleep(time.Second)
	})
	g.Expect(events).To(Equal([]string{
		"session_ready th1 0.169.0", "notice warning no metadata", "turn_start m1", "notice retry Reconnecting... 1/5 (stream disconnected)",
		"notice warning hm", "delta a", "error rate_limit", "session_end closed",
	}))
}

// TestQueueAndStop checks messages that wait: one is withdrawn, one follows the stopped turn.
func TestQueueAndStop(t *testing.T) {
	g := NewWithT(t)
	events, _ := runSession(t, adapters.Options{}, func(n int, prompt string, p *fakeproc.Process) {
		p.Print(threadLine, turnLine, textLine(prompt))
		if n == 2 {
			p.Print(completedLine)
			p.Exit(proc.Exit{})
		}
	}, func(s adapters.Session) {
		for _, id := range []string{"m1", "m2", "m3"} {
			g.Expect(send(s, id)).To(Succeed())
			time.Sleep(time.Second)
		}
		w, _ := adapters.As[adapters.Withdrawer](s)
		g.Expect(w.Withdraw(context.Background(), "m3")).To(Succeed())
		g.Expect(w.Withdraw(context.Background(), "m3")).To(MatchError(adapters.ErrUnknownID))
		g.Expect(s.Stop(context.Background())).To(Succeed())
		time.Sleep(time.Second)
	})
	g.Expect(events).To(Equal([]string{
		"session_ready th1 0.169.0", "turn_start m1", "delta text of m1", "queue m2", "queue m2,m3", "queue m2", "done stopped=true at 3s",
		"queue ", "turn_start m2", "delta text of m2", "done stopped=false at 3s", "session_end closed",
	}))
}

// TestStoppedThreadNotKept checks a turn that was stopped before the runtime stored its thread: the
// next message begins another one. If the thread has a turn that ended by itself, the session
// ends, because its history would be lost.
func TestStoppedThreadNotKept(t *testing.T) {
	for name, c := range map[string]struct {
		ends   bool // the first turn ends by itself
		events []string
	}{
		"stopped": {false, []string{
			"session_ready th1 0.169.0", "turn_start m1", "queue m2", "done stopped=true at 1s",
			"queue ", "notice warning the runtime has not stored the thread th1: the session continues in another one", "turn_start m2", "done stopped=false at 1s", "session_end closed",
		}},
		"ended": {true, []string{
			"session_ready th1 0.169.0", "turn_start m1", "done stopped=false at 0s", "error crash", "session_end crashed",
		}},
	} {
		g := NewWithT(t)
		events, argv := runSession(t, adapters.Options{}, func(n int, _ string, p *fakeproc.Process) {
			switch {
			case n == 1 && !c.ends:
				p.Print(threadLine, turnLine)
			case n == 1:
				p.Print(threadLine, turnLine, completedLine)
				p.Exit(proc.Exit{})
			case n == 2:
				p.Exit(proc.Exit{Code: 1})
			default:
				p.Print(strings.ReplaceAll(threadLine, "th1", "th2"), turnLine, completedLine)
				p.Exit(proc.Exit{})
			}
		}, func(s adapters.Session) {
			g.Expect(send(s, "m1")).To(Succeed())
			time.Sleep(time.Second)
			g.Expect(s.Stop(context.Background())).To(Succeed())
			g.Expect(send(s, "m2")).To(Succeed())
			time.Sleep(time.Second)
		})
		g.Expect(events).To(Equal(c.events), name)
		g.Expect(strings.Join(argv[1], " ")).To(HaveSuffix("resume th1"), name)
		if !c.ends {
			g.Expect(argv[2]).NotTo(ContainElement("resume"))
		}
	}
}

// TestMessageWithoutText checks that a message that ends the program with an error is refused.
func TestMessageWithoutText(t *testing.T) {
	g := NewWithT(t)
	events, argv := runSession(t, adapters.Options{}, nil, func(s adapters.Session) {
		err := s.Send(context.Background(), adapters.Message{ID: "m1", Text: " \n", Attachments: []event.Attachment{{Kind: "image", Path: "a.png"}}})
		g.Expect(err).To(MatchError(adapters.ErrUnsupported))
	})
	g.Expect(events).To(Equal([]string{"session_ready  ", "session_end closed"}))
	g.Expect(argv).To(BeEmpty())
}

// TestInstructionsInPlace checks that instructions in place of the runtime's own come in a file,
// which is gone when the session has ended.
func TestInstructionsInPlace(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", t.TempDir())
	file, text := "", ""
	_, argv := runSession(t, adapters.Options{Opening: op.Opening{Instructions: "Be brief.", ReplaceInstructions: true}}, func(_ int, _ string, p *fakeproc.Process) {
		p.Print(threadLine, turnLine, completedLine)
		p.Exit(proc.Exit{})
	}, func(s adapters.Session) {
		g.Expect(send(s, "m1")).To(Succeed())
		time.Sleep(time.Second)
		files, _ := filepath.Glob(filepath.Join(os.TempDir(), "*", "instructions.md"))
		for _, file = range files {
			b, _ := os.ReadFile(file)
			text = string(b)
		}
	})
	g.Expect(text).To(Equal("Be brief."))
	g.Expect(argv).To(HaveLen(1))
	g.Expect(argv[0]).To(ContainElement(fmt.Sprintf("model_instructions_file=%q", file)))
	g.Expect(file).NotTo(BeAnExistingFile())
}

// TestRefusedOptions checks that an option that the runtime cannot honour is an error that names it.
func TestRefusedOptions(t *testing.T) {
	for name, o := range map[string]adapters.Options{
		"fork": {Opening: op.Opening{Resume: "x", Fork: true}}, "mode": {Opening: op.Opening{Mode: adapters.ModeAsk}}, "tools": {Tools: []adapters.Tool{{Name: "x"}}},
		"hooks": {Hooks: []adapters.Hook{{}}}, "checkpoints": {Opening: op.Opening{Checkpoints: true}}, "unarchive": {Opening: op.Opening{Resume: "x", Unarchive: true}},
	} {
		_, err := New().Open(t.Context(), o)
		g := NewWithT(t)
		g.Expect(err).To(MatchError(adapters.ErrUnsupported), name)
		g.Expect(err).To(MatchError(ContainSubstring(name)))
	}
}
