package sidecar_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/backend/exchange/exchangetest"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// calling is an adapter whose sessions call the tool agents_message with the text of a
// message that is a JSON object.
type calling struct{ scripted }

func (*calling) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Runtime: "calling", Can: op.Set{"tools", "judge"}}
}

func (a *calling) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	s, err := a.scripted.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &callingSession{session: s.(*session), tools: o.Tools}, nil
}

type callingSession struct {
	*session
	tools []adapters.Tool
}

func (s *callingSession) Send(ctx context.Context, m adapters.Message) error {
	if _, answer := exchange.Of(m.ID); answer {
		return s.session.Send(ctx, m) // which is no number, so the turn has no text
	}
	return s.do(ctx, func() {
		s.pos.Turn++
		s.emit(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}})
		s.emit(event.UserMessage{MessageID: m.ID, Text: m.Text, Via: event.ViaTurn})
		s.emit(event.ToolStart{ToolUseID: "c1", Tool: exchange.ToolName, Input: event.Raw(m.Text)})
		// A runtime's call knows nothing of the request that began the turn.
		a, err := s.tools[0].Call(context.Background(), adapters.ToolCall{ID: "c1", Input: event.Raw(m.Text)})
		if err != nil {
			s.emit(event.ToolResult{ToolUseID: "c1", Status: event.ToolError, IsError: true, Output: err.Error()})
		} else {
			s.emit(event.ToolResult{ToolUseID: "c1", Status: event.ToolOK, IsError: a.IsError, Output: a.Content[0].Text})
		}
		s.emit(event.Done{})
	})
}

// TestAskedAgentHasTheBoundsOfTheAsker checks that the preset of a session bounds the session that its
// agent asks for: another agent must not do for it what it must not do.
func TestAskedAgentHasTheBoundsOfTheAsker(t *testing.T) {
	g := NewWithT(t)
	log, asked := &eventlog.Memory{}, &scripted{}
	s := sidecar.New(sidecar.Config{
		Log: log, Agents: &exchange.Config{}, Adapters: map[string]adapters.Adapter{"calling": &calling{}, "scripted": asked},
		Presets: map[string]adapters.Judge{"nothing": func(context.Context, adapters.Call) adapters.Verdict {
			return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "nothing"}
		}},
	})
	x := serverOf(t, s, log)
	x.call(http.MethodPost, "/sessions", `{"session_id":"a","runtime":"calling","params":{"toolPreset":"nothing"}}`)
	x.call(http.MethodPost, "/sessions/a/message", `{"message_id":"m1","message":`+strconv.Quote(`{"to":"scripted","message":"3","wait":true}`)+`}`)
	g.Eventually(func() int { _, run := x.call(http.MethodGet, "/sessions/a-scripted", ""); return len(run) }).WithTimeout(time.Minute).Should(BeNumerically(">", 1))
	asked.mu.Lock()
	defer asked.mu.Unlock()
	g.Expect(asked.opened).To(HaveLen(1))
	g.Expect(asked.opened[0].Judge).NotTo(BeNil())
	g.Expect(asked.opened[0].Judge.Decide(t.Context(), adapters.Call{Tool: "Bash"}).Reason).To(Equal("nothing"))
}

// TestAgentsSendMessages lets the agent of one session ask that of another, and reads
// the log of both.
func TestAgentsSendMessages(t *testing.T) {
	for _, input := range []string{`{"to":"scripted","message":"3"}`, `{"to":"scripted","message":"3","wait":true}`} {
		t.Run(input, func(t *testing.T) {
			g := NewWithT(t)
			log := &eventlog.Memory{}
			s := sidecar.New(sidecar.Config{
				Log: log, Agents: &exchange.Config{}, Adapters: map[string]adapters.Adapter{"calling": &calling{}, "scripted": &scripted{}},
			})
			x := serverOf(t, s, log)
			status, _ := x.call(http.MethodPost, "/sessions", `{"session_id":"a","runtime":"calling"}`)
			g.Expect(status).To(Equal(http.StatusCreated))
			status, _ = x.call(http.MethodPost, "/sessions/a/message", `{"message_id":"m1","message":`+strconv.Quote(input)+`}`)
			g.Expect(status).To(Equal(http.StatusAccepted))
			judge := func() []exchangetest.Problem {
				sessions := map[string][]event.Event{}
				for _, id := range []string{"a", "a-scripted"} {
					for e, err := range eventlog.All(t.Context(), log, id, 0) {
						g.Expect(err).NotTo(HaveOccurred())
						sessions[id] = append(sessions[id], e)
					}
				}
				r := exchangetest.Judge(sessions)
				if r.Exchanges != 1 {
					return []exchangetest.Problem{{Text: "no exchange"}}
				}
				return r.Problems
			}
			g.Eventually(judge).WithTimeout(time.Minute).Should(BeEmpty())
			status, run := x.call(http.MethodGet, "/sessions/a-scripted", "")
			g.Expect(status).To(Equal(http.StatusOK))
			g.Expect(run).To(HaveKeyWithValue("runtime", "scripted"))
		})
	}
}
