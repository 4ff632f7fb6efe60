package claude_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is a runtime in this process: the test reads the client's lines and
// writes the runtime's.
type peer struct{ *fakeproc.Process }

func newPeer() *peer { return &peer{fakeproc.New()} }

// expect returns the next line of the client that contains every part.
func (p *peer) expect(parts ...string) string {
next:
	for {
		l, err := p.In.ReadString('\n')
		if err != nil {
			return ""
		}
		for _, s := range parts {
			if !strings.Contains(l, s) {
				continue next
			}
		}
		return l
	}
}

// quit reads to the end of stdin and exits.
func (p *peer) quit() {
	_, _ = io.Copy(io.Discard, p.In)
	p.Exit(proc.Exit{})
}

// quoted returns the text between prefix and the next quote.
func quoted(s, prefix string) string {
	_, s, _ = strings.Cut(s, prefix)
	s, _, _ = strings.Cut(s, `"`)
	return s
}

func (p *peer) handshake() {
	l := p.expect(`"initialize"`)
	p.Print(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"claude_code_version":"2.1.329","current_permission_mode":"default"}}}`,
		quoted(l, `"request_id":"`)))
}

func uuidOf(l string) string { return quoted(l, `"uuid":"`) }

func lifecycleLine(uuid, state string) string {
	return fmt.Sprintf(`{"type":"command_lifecycle","command_uuid":%q,"state":%q}`, uuid, state)
}

const (
	initLine   = `{"type":"system","subtype":"init","model":"m","permissionMode":"default"}`
	resultLine = `{"type":"result","subtype":"success","is_error":false,"result":"ok","terminal_reason":"completed"}`
	askLine    = `{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch x"},"tool_use_id":"t1"}}`
	toolLine   = `{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"touch x"}}]},"parent_tool_use_id":null}`
)

// runClient runs a client against a scripted runtime in virtual time and
// returns the events. Nothing is asserted inside the bubble.
func runClient(t *testing.T, o adapters.Options, runtime func(*peer), client func(adapters.Session, func(event.Type) event.Event)) (events []event.Event, openErr error, elapsed time.Duration) { //nolint:staticcheck // the error is one of the findings
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		p := newPeer()
		o.Launch = p
		begun := time.Now()
		go runtime(p)
		s, err := claude.New().Open(context.Background(), o)
		if err != nil {
			openErr, elapsed = err, time.Since(begun)
			p.Exit(proc.Exit{})
			return
		}
		all := make(chan event.Event, 1000)
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer close(all)
			for e := range s.Events() {
				events = append(events, e)
				all <- e
			}
		}()
		client(s, func(want event.Type) event.Event {
			for e := range all {
				if e.Type() == want {
					return e
				}
			}
			return event.Event{}
		})
		elapsed = time.Since(begun)
		_ = s.Close(context.Background())
		<-done
	})
	return events, openErr, elapsed
}

func eventTypes(events []event.Event) (list []event.Type) {
	for _, e := range events {
		list = append(list, e.Type())
	}
	return list
}

func dataOf[T event.Data](events []event.Event) (list []T) {
	for _, e := range events {
		if d, ok := e.Data.(T); ok {
			list = append(list, d)
		}
	}
	return list
}

func send(s adapters.Session, id string) error {
	return s.Send(context.Background(), adapters.Message{ID: id, Text: "hi " + id})
}

func TestWaitingMessagesAreQueuedThenMerged(t *testing.T) {
	g := gomega.NewWithT(t)
	events, _, _ := runClient(t, adapters.Options{}, func(p *peer) {
		p.handshake()
		u1 := uuidOf(p.expect(`"type":"user"`))
		p.Print(lifecycleLine(u1, "queued"), lifecycleLine(u1, "started"), initLine)
		u2, u3 := uuidOf(p.expect(`hi m2`)), uuidOf(p.expect(`hi m3`))
		p.Print(resultLine, lifecycleLine(u1, "completed"), lifecycleLine(u2, "started"), lifecycleLine(u3, "started"), initLine, strings.Replace(resultLine, "ok", "two", 1))
		p.quit()
	}, func(s adapters.Session, next func(event.Type) event.Event) {
		_ = send(s, "m1")
		next(event.TypeTurnStart)
		_ = send(s, "m2")
		_ = send(s, "m3")
		next(event.TypeDone)
		next(event.TypeDone)
	})
	g.Expect(checkStream(events)).To(gomega.Succeed())
	var turns [][]string
	for _, d := range dataOf[event.TurnStart](events) {
		turns = append(turns, d.MessageIDs)
	}
	g.Expect(turns).To(gomega.Equal([][]string{{"m1"}, {"m2", "m3"}}))
	g.Expect(dataOf[event.UserMessage](events)).To(gomega.Equal([]event.UserMessage{
		{MessageID: "m1", Text: "hi m1", Via: event.ViaTurn}, {MessageID: "m2", Text: "hi m2", Via: event.ViaTurn}, {MessageID: "m3", Text: "hi m3", Via: event.ViaMerge}}))
	queues := dataOf[event.Queue](events)
	g.Expect(queues[len(queues)-1].MessageIDs).To(gomega.BeEmpty())
}

func TestOlderVersionReportsTakenMessagesByEcho(t *testing.T) {
	g := gomega.NewWithT(t)
	events, _, _ := runClient(t, adapters.Options{}, func(p *peer) {
		p.handshake()
		p.expect(`hi m1`)
		p.Print(initLine, toolLine)
		u2 := uuidOf(p.expect(`hi m2`))
		p.Print(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]},"parent_tool_use_id":null}`,
			`{"type":"user","isReplay":true,"uuid":"`+u2+`","message":{"role":"user","content":"hi m2"},"parent_tool_use_id":null}`, resultLine)
		p.quit()
	}, func(s adapters.Session, next func(event.Type) event.Event) {
		_ = send(s, "m1")
		next(event.TypeToolStart)
		_ = send(s, "m2")
		next(event.TypeDone)
	})
	g.Expect(checkStream(events)).To(gomega.Succeed())
	g.Expect(dataOf[event.UserMessage](events)).To(gomega.HaveLen(2))
	g.Expect(dataOf[event.UserMessage](events)[1].Via).To(gomega.Equal(event.ViaMerge))
	g.Expect(dataOf[event.TurnStart](events)).To(gomega.HaveLen(1))
}

func TestEachPermissionGetsOneReply(t *testing.T) {
	for name, c := range map[string]struct {
		act      func(adapters.Session) error
		want     string
		resolved event.PermissionResolved
	}{
		"allow": {func(s adapters.Session) error {
			return s.Answer(context.Background(), "q1", adapters.Answer{Decision: event.DecisionAllow})
		}, `{"behavior":"allow","updatedInput":{"command":"touch x"}}`, event.PermissionResolved{RequestID: "q1", ToolName: "Bash", Allowed: true, Decision: event.DecisionAllow, By: event.ByUser}},
		"deny": {func(s adapters.Session) error {
			return s.Answer(context.Background(), "q1", adapters.Answer{Decision: event.DecisionDeny, Message: "no", By: event.ByPolicy})
		}, `{"behavior":"deny","message":"no"}`, event.PermissionResolved{RequestID: "q1", ToolName: "Bash", Decision: event.DecisionDeny, By: event.ByPolicy}},
		"cancel": {func(s adapters.Session) error {
			return s.Answer(context.Background(), "q1", adapters.Answer{Decision: event.DecisionCancel})
		}, `"interrupt":true`, event.PermissionResolved{RequestID: "q1", ToolName: "Bash", Decision: event.DecisionCancel, By: event.ByUser}},
		"close": {func(s adapters.Session) error { return s.Close(context.Background()) },
			`"behavior":"deny"`, event.PermissionResolved{RequestID: "q1", ToolName: "Bash", Decision: event.DecisionCancel, By: event.ByRuntime}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var replies []string
			var answered, again error
			events, _, _ := runClient(t, adapters.Options{}, func(p *peer) {
				p.handshake()
				u := uuidOf(p.expect(`hi m1`))
				p.Print(lifecycleLine(u, "started"), initLine, toolLine, askLine)
				for {
					l := p.expect(`"control_response"`)
					if l == "" {
						p.Exit(proc.Exit{})
						return
					}
					replies = append(replies, l)
				}
			}, func(s adapters.Session, next func(event.Type) event.Event) {
				_ = send(s, "m1")
				next(event.TypePermissionRequest)
				answered = c.act(s)
				again = c.act(s)
			})
			g.Expect(checkStream(events)).To(gomega.Succeed())
			g.Expect(answered).NotTo(gomega.HaveOccurred())
			if name != "close" {
				g.Expect(errors.Is(again, adapters.ErrUnknownID)).To(gomega.BeTrue(), "a second answer: %v", again)
			}
			g.Expect(replies).To(gomega.HaveLen(1))
			g.Expect(replies[0]).To(gomega.ContainSubstring(c.want))
			g.Expect(dataOf[event.PermissionResolved](events)).To(gomega.Equal([]event.PermissionResolved{c.resolved}))
		})
	}
}

func TestUnanswerableRequestsAreRefusedAtOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	var late, odd string
	events, _, _ := runClient(t, adapters.Options{}, func(p *peer) {
		p.handshake()
		p.Print(askLine)
		late = p.expect(`"q1"`)
		p.Print(`{"type":"control_request","request_id":"q2","request":{"subtype":"brand_new"}}`)
		odd = p.expect(`"q2"`)
		p.quit()
	}, func(_ adapters.Session, next func(event.Type) event.Event) {
		next(event.TypeNotice)
		next(event.TypeNotice)
	})
	g.Expect(late).To(gomega.ContainSubstring(`"behavior":"deny"`))
	g.Expect(odd).To(gomega.ContainSubstring(`"subtype":"error"`))
	g.Expect(notices(events, event.NoticeLate)).To(gomega.Equal(1))
	g.Expect(notices(events, event.NoticeRefused)).To(gomega.Equal(1))
	g.Expect(eventTypes(events)).NotTo(gomega.ContainElement(event.TypePermissionRequest))
}

func TestStopBeforeTheTurnBegins(t *testing.T) {
	g := gomega.NewWithT(t)
	events, _, _ := runClient(t, adapters.Options{}, func(p *peer) {
		p.handshake()
		u := uuidOf(p.expect(`hi m1`))
		time.Sleep(time.Second)
		p.Print(lifecycleLine(u, "started"), initLine)
		p.expect(`"interrupt"`)
		p.Print(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","errors":["x"]}`)
		p.quit()
	}, func(s adapters.Session, next func(event.Type) event.Event) {
		_ = send(s, "m1")
		_ = s.Stop(context.Background())
		next(event.TypeDone)
	})
	g.Expect(checkStream(events)).To(gomega.Succeed())
	g.Expect(dataOf[event.Done](events)).To(gomega.Equal([]event.Done{{Stopped: true, Reason: "aborted_streaming"}}))
}

func TestSilenceEndsATurnOnlyWithoutAPong(t *testing.T) {
	limits := adapters.Limits{Idle: 10 * time.Second, Request: 3 * time.Second}
	for name, c := range map[string]struct {
		answers bool
		want    time.Duration
	}{"dead": {false, 13 * time.Second}, "alive": {true, time.Minute}} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			events, _, elapsed := runClient(t, adapters.Options{Limits: limits}, func(p *peer) {
				p.handshake()
				u := uuidOf(p.expect(`hi m1`))
				p.Print(lifecycleLine(u, "started"), initLine)
				if c.answers {
					go func() {
						time.Sleep(time.Minute)
						p.Print(resultLine)
					}()
					for {
						l := p.expect(`mcp_status`)
						if l == "" {
							p.Exit(proc.Exit{})
							return
						}
						p.Print(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`, quoted(l, `"request_id":"`)))
					}
				}
				p.quit()
			}, func(s adapters.Session, next func(event.Type) event.Event) {
				_ = send(s, "m1")
				if c.answers {
					next(event.TypeDone)
					return
				}
				next(event.TypeError)
			})
			g.Expect(checkStream(events)).To(gomega.Succeed())
			g.Expect(elapsed).To(gomega.Equal(c.want))
			if !c.answers {
				g.Expect(dataOf[event.Error](events)[0].Code).To(gomega.Equal(event.ErrorTimeout))
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	for name, c := range map[string]struct {
		o       adapters.Options
		runtime func(*peer)
		code    event.ErrorCode
		op      string
		elapsed time.Duration
	}{
		"unknown session": {adapters.Options{Opening: op.Opening{Resume: "x"}}, func(p *peer) {
			p.expect(`"initialize"`)
			p.Print(`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"x","errors":["No conversation found with session ID: x"]}`)
			p.Exit(proc.Exit{Code: 1})
		}, event.ErrorInvalid, "resume", 0},
		"error reply": {adapters.Options{}, func(p *peer) {
			l := p.expect(`"initialize"`)
			p.Print(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"error","request_id":%q,"error":"nope"}}`, quoted(l, `"request_id":"`)))
			p.quit()
		}, event.ErrorProtocol, "handshake", 0},
		"silence":           {adapters.Options{}, func(p *peer) { p.quit() }, event.ErrorTimeout, "handshake", 30 * time.Second},
		"early end":         {adapters.Options{}, func(p *peer) { p.expect(`"initialize"`); p.Exit(proc.Exit{Code: 2}) }, event.ErrorStartFailure, "handshake", 0},
		"fork without base": {adapters.Options{Opening: op.Opening{Fork: true}}, func(*peer) {}, event.ErrorInvalid, "options", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err, elapsed := runClient(t, c.o, c.runtime, func(adapters.Session, func(event.Type) event.Event) {})
			var oe *adapters.OpenError
			g.Expect(errors.As(err, &oe)).To(gomega.BeTrue(), "got %v", err)
			g.Expect(oe.Code).To(gomega.Equal(c.code))
			g.Expect(oe.Op).To(gomega.Equal(c.op))
			g.Expect(elapsed).To(gomega.Equal(c.elapsed))
		})
	}
}

// A slow start may exceed a request's limit, but not the limit of the opening.
func TestLateHandshakeOpensTheSession(t *testing.T) {
	g := gomega.NewWithT(t)
	o := adapters.Options{Limits: adapters.Limits{Request: time.Second, Handshake: 3 * time.Second}}
	_, err, elapsed := runClient(t, o, func(p *peer) {
		time.Sleep(2 * time.Second)
		p.handshake()
		p.quit()
	}, func(adapters.Session, func(event.Type) event.Event) {})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(elapsed).To(gomega.Equal(2 * time.Second))
}

func TestArguments(t *testing.T) {
	g := gomega.NewWithT(t)
	var argv string
	_, err, _ := runClient(t, adapters.Options{Opening: op.Opening{Resume: "old", Fork: true, Model: "opus", Mode: "accept-edits", Args: []string{"--x"}}, Env: []string{"CLAUDE_CODE_EXECUTABLE=/opt/c"}},
		func(p *peer) {
			p.expect(`"initialize"`)
			argv = strings.Join(p.Argv, " ")
			p.Exit(proc.Exit{Code: 1})
		}, func(adapters.Session, func(event.Type) event.Event) {})
	g.Expect(err).To(gomega.HaveOccurred())
	g.Expect(argv).To(gomega.HavePrefix("/opt/c -p --output-format stream-json --input-format stream-json --verbose --permission-prompt-tool stdio"))
	g.Expect(argv).To(gomega.MatchRegexp(`--resume old --fork-session --session-id [0-9a-f-]{36} --model opus --permission-mode acceptEdits --forward-subagent-text --x$`))
}

// A version that rejects the new option exits at once and is started again
// without it.
func TestOlderVersionIsStartedWithoutForwardText(t *testing.T) {
	g := gomega.NewWithT(t)
	var argvs []string
	launch := proc.LauncherFunc(func(_ context.Context, c proc.Command) (proc.Process, error) {
		p := newPeer()
		argvs = append(argvs, strings.Join(c.Argv, " "))
		if strings.Contains(argvs[len(argvs)-1], "--forward-subagent-text") {
			go func() {
				p.PrintErr("error: unknown option '--forward-subagent-text'")
				p.Exit(proc.Exit{Code: 1})
			}()
			return p, nil
		}
		go func() {
			p.handshake()
			p.quit()
		}()
		return p, nil
	})
	s, err := claude.New().Open(t.Context(), adapters.Options{Launch: launch})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	go func() {
		for range s.Events() {
		}
	}()
	g.Expect(s.Close(context.Background())).To(gomega.Succeed())
	g.Expect(argvs).To(gomega.HaveLen(2))
	g.Expect(argvs[1]).NotTo(gomega.ContainSubstring("--forward-subagent-text"))
}

// If the runtime completes a message but loses the turn's result, it stays
// alive and answers pings, so only this rule ends the turn.
func TestTurnWithoutResultEndsInAnError(t *testing.T) {
	g := gomega.NewWithT(t)
	events, err, _ := runClient(t, adapters.Options{}, func(p *peer) {
		p.handshake()
		u := uuidOf(p.expect(`"type":"user"`))
		p.Print(lifecycleLine(u, "queued"), lifecycleLine(u, "started"), initLine, lifecycleLine(u, "completed"))
		p.quit() // when the session is closed
	}, func(s adapters.Session, next func(event.Type) event.Event) {
		_ = send(s, "m1")
		next(event.TypeError)
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	errs := dataOf[event.Error](events)
	g.Expect(errs).To(gomega.HaveLen(1))
	g.Expect(errs[0].Code).To(gomega.Equal(event.ErrorProtocol))
}
