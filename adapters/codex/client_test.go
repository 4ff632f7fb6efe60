package codex_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
)

// The lines in this file are handwritten: they are the smallest that make the
// client act. Recordings test everything else.

// runClient opens a session on a runtime that replies by a table from method to
// lines; "$" is the request's id. It returns the events, the lines written, and
// the error of client.
func runClient(t *testing.T, table map[string][]string, client func(s adapters.Session, r *runtime) error) (evs []event.Event, sent []string, err error) {
	t.Helper()
	return runClientWith(t, adapters.Options{}, table, client)
}

// runClientWith is runClient with session options.
func runClientWith(t *testing.T, o adapters.Options, table map[string][]string, client func(s adapters.Session, r *runtime) error) (evs []event.Event, sent []string, err error) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		r := newRuntime()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for l := range r.lines {
				sent = append(sent, l)
				var c clientLine
				_ = json.Unmarshal([]byte(l), &c)
				for _, say := range table[c.Method] {
					r.Print(strings.ReplaceAll(say, `"$"`, string(c.ID)))
				}
			}
		}()
		o.SessionID, o.Resume = "s", "T"
		o.Launch = r
		var s adapters.Session
		s, err = codex.New().Open(context.Background(), o)
		if err == nil {
			read := make(chan struct{})
			go func() {
				for e := range s.Events() {
					evs = append(evs, e)
				}
				close(read)
			}()
			err = client(s, r)
			synctest.Wait()
			_ = s.Close(context.Background())
			<-read
		}
		<-done
	})
	return evs, sent, err
}

// handshake is the table of a runtime that opens thread T.
func handshake(more map[string][]string) map[string][]string {
	m := map[string][]string{
		"initialize":    {`{"id":"$","result":{"userAgent":"turnspec/0.169.0 (x) y"}}`},
		"thread/resume": {`{"id":"$","result":{"thread":{"id":"T"},"model":"m","cwd":"/w"}}`},
	}
	maps.Copy(m, more)
	return m
}

func startedTurn() map[string][]string {
	return handshake(map[string][]string{"turn/start": {
		`{"id":"$","result":{"turn":{"id":"u1"}}}`,
		`{"method":"turn/started","params":{"threadId":"T","turn":{"id":"u1"}}}`,
	}})
}

func kinds(evs []event.Event) (out []string) {
	for _, e := range evs {
		s := string(e.Type())
		switch d := e.Data.(type) {
		case event.Error:
			s += " " + string(d.Code)
		case event.Notice:
			s += " " + string(d.Code)
		case event.Done:
			s += fmt.Sprint(" ", d.Stopped)
		case event.PermissionResolved:
			s += " " + string(d.Decision) + " " + string(d.By)
		}
		out = append(out, s)
	}
	return out
}

func send(s adapters.Session, id string) error {
	return s.Send(context.Background(), adapters.Message{ID: id, Text: "hi"})
}

func TestOpenErrors(t *testing.T) {
	for name, c := range map[string]struct {
		table map[string][]string
		code  event.ErrorCode
		op    string
	}{
		"unknown thread": {handshake(map[string][]string{"thread/resume": {`{"error":{"code":-32600,"message":"no rollout found for thread id T"},"id":"$"}`}}), event.ErrorInvalid, "resume"},
		"no thread id":   {handshake(map[string][]string{"thread/resume": {`{"id":"$","result":{"id":"T"}}`}}), event.ErrorProtocol, "resume"},
		"silence":        {map[string][]string{}, event.ErrorTimeout, "handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := runClient(t, c.table, nil)
			g := NewWithT(t)
			var oe *adapters.OpenError
			g.Expect(errors.As(err, &oe)).To(BeTrue(), "%v", err)
			g.Expect(oe.Code).To(Equal(c.code))
			g.Expect(oe.Op).To(Equal(c.op))
		})
	}
}

func TestSessionReadyNamesTheThread(t *testing.T) {
	evs, sent, err := runClient(t, handshake(nil), func(adapters.Session, *runtime) error { return nil })
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(evs[0].Data).To(Equal(event.SessionReady{SessionID: "s", Runtime: "codex", RuntimeVersion: "0.169.0",
		ProviderSessionID: "T", Resumed: true, Model: "m", Cwd: "/w", Mode: "ask"}))
	g.Expect(sent[2]).To(ContainSubstring(`"approvalPolicy":"untrusted","sandbox":"workspace-write"`))
	g.Expect(sent[2]).To(ContainSubstring(`"threadId":"T","excludeTurns":true`))
}

func TestRefusedTurnIsAFailedTurn(t *testing.T) {
	evs, _, err := runClient(t, handshake(map[string][]string{"turn/start": {`{"id":"$","error":{"code":-32600,"message":"no"}}`}}),
		func(s adapters.Session, _ *runtime) error { return send(s, "m1") })
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kinds(evs)).To(Equal([]string{"session_ready", "turn_start", "thinking", "error invalid_request", "session_end"}))
	g.Expect(evs[1].Data.(event.TurnStart).MessageIDs).To(Equal([]string{"m1"}))
}

func TestSilentTurnStartTimesOut(t *testing.T) {
	var took time.Duration
	evs, _, _ := runClient(t, handshake(nil), func(s adapters.Session, _ *runtime) error {
		at := time.Now()
		_ = send(s, "m1")
		time.Sleep(31 * time.Second)
		took = time.Since(at)
		return nil
	})
	g := NewWithT(t)
	g.Expect(took).To(Equal(31 * time.Second))
	g.Expect(kinds(evs)).To(ContainElement("error timeout"))
	for _, e := range evs {
		if e.Type() == event.TypeError {
			g.Expect(e.TS.Sub(evs[0].TS)).To(Equal(30 * time.Second))
		}
	}
}

func TestCrashBeforeTheTurnBeginsIsAnError(t *testing.T) {
	evs, _, _ := runClient(t, handshake(nil), func(s adapters.Session, r *runtime) error {
		err := send(s, "m1")
		synctest.Wait()
		r.Exit(proc.Exit{Code: 1})
		return err
	})
	NewWithT(t).Expect(kinds(evs)).To(Equal([]string{"session_ready", "error crash", "session_end"}))
}

func TestStopBeforeTheTurnBegins(t *testing.T) {
	table := handshake(map[string][]string{"turn/interrupt": {`{"id":"$","result":{}}`,
		`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u1","status":"interrupted","items":[]}}}`}})
	evs, sent, _ := runClient(t, table, func(s adapters.Session, r *runtime) error {
		_ = send(s, "m1")
		err := s.Stop(context.Background())
		synctest.Wait()
		r.Print(`{"id":3,"result":{"turn":{"id":"u1"}}}`)
		r.Print(`{"method":"turn/started","params":{"threadId":"T","turn":{"id":"u1"}}}`)
		return err
	})
	g := NewWithT(t)
	g.Expect(sent[len(sent)-1]).To(ContainSubstring(`"turn/interrupt","params":{"threadId":"T","turnId":"u1"}`))
	g.Expect(kinds(evs)).To(ContainElement("done true"))
	g.Expect(kinds(evs)).To(ContainElement("notice refused"), "the message was not taken")
}

func TestRefusedSteerIsAnError(t *testing.T) {
	table := startedTurn()
	table["turn/steer"] = []string{`{"id":"$","error":{"code":-32600,"message":"no active turn to steer"}}`}
	_, _, err := runClient(t, table, func(s adapters.Session, _ *runtime) error {
		_ = send(s, "m1")
		synctest.Wait()
		return s.(adapters.Steerer).Steer(context.Background(), adapters.Message{ID: "m2", Text: "x"})
	})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("no active turn to steer")))
}

const approval = `{"method":"item/commandExecution/requestApproval","id":0,"params":{"threadId":"T","turnId":"%s","itemId":"i","command":"rm x","availableDecisions":["accept","acceptForSession","cancel"]}}`

func TestQuestionOutsideATurnIsDeclined(t *testing.T) {
	for _, turn := range []string{"u0", "u9"} {
		evs, sent, _ := runClient(t, startedTurn(), func(s adapters.Session, r *runtime) error {
			if turn == "u0" {
				r.Print(fmt.Sprintf(approval, turn))
				return nil
			}
			_ = send(s, "m1")
			synctest.Wait()
			r.Print(fmt.Sprintf(approval, turn))
			return nil
		})
		g := NewWithT(t)
		g.Expect(sent[len(sent)-1]).To(Equal(`{"id":0,"result":{"decision":"decline"}}`))
		g.Expect(kinds(evs)).To(ContainElement("notice late"))
		g.Expect(kinds(evs)).NotTo(ContainElement("permission_request"))
	}
}

func TestUnknownRequestIsRefusedAtOnce(t *testing.T) {
	evs, sent, _ := runClient(t, startedTurn(), func(s adapters.Session, r *runtime) error {
		r.Print(`{"method":"item/tool/call","id":"a","params":{"threadId":"T"}}`)
		return nil
	})
	g := NewWithT(t)
	g.Expect(sent[len(sent)-1]).To(HavePrefix(`{"id":"a","error":{"code":-32601`))
	g.Expect(kinds(evs)).To(ContainElement("notice unknown_message"))
}

func TestEachQuestionGetsOneReply(t *testing.T) {
	end := `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u1","status":"interrupted"}}}`
	for name, c := range map[string]struct {
		client   func(s adapters.Session, r *runtime)
		reply    string
		resolved string
	}{
		"allowed": {func(s adapters.Session, _ *runtime) {
			_ = s.Answer(context.Background(), "1.0", adapters.Answer{Decision: event.DecisionAllow})
		}, `{"decision":"accept"}`, "allow user"},
		"its own option": {func(s adapters.Session, _ *runtime) {
			_ = s.Answer(context.Background(), "1.0", adapters.Answer{Decision: "acceptForSession", By: event.ByPolicy})
		}, `{"decision":"acceptForSession"}`, "allow policy"},
		"turn ended": {func(s adapters.Session, r *runtime) {
			r.Print(end)
			synctest.Wait()
			_ = send(s, "after")
		}, `{"decision":"decline"}`, "cancel withdrawn"},
		"closed": {func(adapters.Session, *runtime) {}, `{"decision":"cancel"}`, "cancel policy"},
		"withdrawn": {func(_ adapters.Session, r *runtime) {
			r.Print(`{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":0}}`)
		}, "", "cancel withdrawn"},
	} {
		t.Run(name, func(t *testing.T) {
			evs, sent, _ := runClient(t, startedTurn(), func(s adapters.Session, r *runtime) error {
				_ = send(s, "m1")
				synctest.Wait()
				r.Print(fmt.Sprintf(approval, "u1"))
				synctest.Wait()
				c.client(s, r)
				return nil
			})
			g := NewWithT(t)
			var replies []string
			if name == "turn ended" {
				g.Expect(sent[len(sent)-1]).To(ContainSubstring(`"after"`), "the reply does not wait for Close")
			}
			for _, l := range sent {
				if strings.HasPrefix(l, `{"id":0,`) {
					replies = append(replies, l)
				}
			}
			if c.reply == "" {
				g.Expect(replies).To(BeEmpty())
			} else {
				g.Expect(replies).To(Equal([]string{`{"id":0,"result":` + c.reply + `}`}))
			}
			g.Expect(kinds(evs)).To(ContainElement("permission_resolved " + c.resolved))
		})
	}
}

func TestLinesOfAnEndedTurnMakeNoEvents(t *testing.T) {
	end := `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u1","status":"completed"}}}`
	late := []string{end,
		`{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"u1","itemId":"a","delta":"x"}}`,
		`{"method":"item/started","params":{"threadId":"T","turnId":"u1","item":{"type":"commandExecution","id":"c"}}}`,
		`{"method":"item/completed","params":{"threadId":"T","turnId":"u1","item":{"type":"agentMessage","id":"a","text":"x"}}}`,
		`{"method":"turn/started","params":{"threadId":"T","turn":{"id":"u1"}}}`,
	}
	evs, _, _ := runClient(t, startedTurn(), func(s adapters.Session, r *runtime) error {
		_ = send(s, "m1")
		synctest.Wait()
		r.Print(end)
		for _, l := range late {
			r.Print(l)
		}
		return nil
	})
	NewWithT(t).Expect(kinds(evs)).To(Equal([]string{"session_ready", "turn_start", "thinking", "done false", "notice refused", "session_end"}))
}

func TestEchoesOfTheClientAreIgnored(t *testing.T) {
	evs, sent, _ := runClient(t, startedTurn(), func(s adapters.Session, r *runtime) error {
		_ = send(s, "m1")
		synctest.Wait()
		for _, l := range []string{
			`{"id":3,"method":"turn/start","params":{"threadId":"T"}}`, `{"method":"initialized"}`, `{"id":3,"result":{"decision":"accept"}}`,
		} {
			r.Print(l)
		}
		return nil
	})
	g := NewWithT(t)
	g.Expect(sent).To(HaveLen(4))
	g.Expect(kinds(evs)).To(Equal([]string{"session_ready", "turn_start", "thinking", "done true", "session_end"}))
}

// Questions that are not permissions, and permissions of other shapes.
func TestAnswersHaveTheFormOfTheirQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		ask, want string
		answer    adapters.Answer
	}{
		"user input": {`{"method":"item/tool/requestUserInput","id":0,"params":{"threadId":"T","turnId":"u1","itemId":"i","questions":[{"id":"db"}]}}`,
			`{"answers":{"db":{"answers":["Postgres"]}}}`, adapters.Answer{Value: event.Raw(`{"db":{"answers":["Postgres"]}}`)}},
		"elicitation": {`{"method":"mcpServer/elicitation/request","id":0,"params":{"threadId":"T","turnId":"u1","serverName":"s","_meta":null,"message":"who?"}}`,
			`{"action":"accept","content":{"name":"x"},"_meta":null}`, adapters.Answer{Value: event.Raw(`{"name":"x"}`)}},
		"elicitation declined": {`{"method":"mcpServer/elicitation/request","id":0,"params":{"threadId":"T","turnId":"u1","serverName":"s"}}`,
			`{"action":"decline","content":null,"_meta":null}`, adapters.Answer{Decision: event.DecisionDeny}},
		"mcp tool": {`{"method":"mcpServer/elicitation/request","id":0,"params":{"threadId":"T","turnId":"u1","serverName":"s","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"t","tool_params":{}}}}`,
			`{"action":"accept","content":{},"_meta":null}`, adapters.Answer{Decision: event.DecisionAllow}},
		"permissions": {`{"method":"item/permissions/requestApproval","id":0,"params":{"threadId":"T","turnId":"u1","itemId":"i","permissions":{"network":{"enabled":true}}}}`,
			`{"permissions":{"network":{"enabled":true}},"scope":"turn"}`, adapters.Answer{Decision: event.DecisionAllow}},
		"old exec": {`{"method":"execCommandApproval","id":0,"params":{"conversationId":"T","callId":"i","command":["rm","x"]}}`,
			`{"decision":"denied"}`, adapters.Answer{Decision: event.DecisionDeny}},
	} {
		t.Run(name, func(t *testing.T) {
			_, sent, err := runClient(t, startedTurn(), func(s adapters.Session, r *runtime) error {
				_ = send(s, "m1")
				synctest.Wait()
				r.Print(c.ask)
				synctest.Wait()
				return s.Answer(context.Background(), "1.0", c.answer)
			})
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(sent[len(sent)-1]).To(Equal(`{"id":0,"result":` + c.want + `}`))
		})
	}
}

// The runtime does not report how a message arrived; the client does.
func TestViaOfMessages(t *testing.T) {
	took := func(r *runtime, client string) {
		r.Print(`{"method":"item/started","params":{"threadId":"T","turnId":"u1","item":{"type":"userMessage","id":"i` + client + `","clientId":"` + client + `","content":[]}}}`)
		synctest.Wait()
	}
	table := startedTurn()
	table["turn/steer"] = []string{`{"id":"$","result":{"turnId":"u1"}}`}
	evs, _, err := runClient(t, table, func(s adapters.Session, r *runtime) error {
		_ = send(s, "m1")
		synctest.Wait()
		took(r, "m1")
		_ = send(s, "m2")
		synctest.Wait()
		took(r, "m2")
		err := s.(adapters.Steerer).Steer(context.Background(), adapters.Message{ID: "m3", Text: "x"})
		took(r, "m3")
		return err
	})
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	var how []string
	for _, e := range evs {
		if d, ok := e.Data.(event.UserMessage); ok {
			how = append(how, d.MessageID+" "+string(d.Via))
		}
	}
	g.Expect(how).To(Equal([]string{"m1 turn", "m2 merge", "m3 steer"}))
}

// Lines of a thread before the reply to thread/resume are ignored.
func TestLinesBeforeTheThreadOpensAreIgnored(t *testing.T) {
	table := handshake(nil)
	table["initialize"] = append(table["initialize"],
		`{"method":"item/started","params":{"threadId":"X","turnId":"u","item":{"type":"agentMessage","id":"a","text":"x"}}}`,
		`{"method":"warning","params":{"threadId":"X","message":"early"}}`)
	evs, _, _ := runClient(t, table, func(adapters.Session, *runtime) error { return nil })
	g := NewWithT(t)
	g.Expect(kinds(evs)).To(Equal([]string{"session_ready", "notice warning", "session_end"}))
	g.Expect(evs[0].Data.(event.SessionReady).ProviderSessionID).To(Equal("T"))
}
