package session

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// testHost is a Host whose limits pass, and whose work ends, when the test says so.
type testHost struct {
	Host
	limit    func() // nil: none runs
	work     func() func()
	canceled bool
	ready    error
}

func (*testHost) Limits() adapters.Limits { return adapters.Limits{Request: time.Second} }
func (h *testHost) Ready(err error)       { h.ready = err }

func (h *testHost) After(_ time.Duration, f func()) func() {
	h.limit = f
	return func() { h.limit = nil }
}

func (h *testHost) Go(work func(context.Context) func()) func() {
	h.work = func() func() { return work(context.Background()) }
	return func() { h.canceled = true }
}

func TestCalls(t *testing.T) {
	g := NewWithT(t)
	h := &testHost{}
	var c Calls[string]
	var got []any
	then := func(r string, err error) {
		if err != nil {
			got = append(got, err)
			return
		}
		got = append(got, r)
	}
	g.Expect(c.Take(1)).To(BeNil())
	g.Expect(c.Given(1)).To(BeFalse())
	g.Expect(c.Add(h, "a", true, then)).To(Equal(1))
	c.Take(1).Reply("one")
	g.Expect(h.limit).To(BeNil(), "a reply ends the limit")
	g.Expect(c.Take(1)).To(BeNil())
	g.Expect(c.Given(1)).To(BeTrue())

	c.Add(h, "b", false, then)
	c.Add(h, "a", false, then)
	g.Expect(h.limit).To(BeNil())
	g.Expect([]int{c.Oldest("a"), c.Oldest("b"), c.Oldest("c")}).To(Equal([]int{3, 2, 0}))
	c.Take(2).Fail(RefusedError("no"))
	c.Add(h, "", true, then)
	h.limit()
	g.Expect(c.Take(4)).To(BeNil(), "a reply after the limit is late")
	g.Expect(got).To(HaveLen(3))
	g.Expect(got[0]).To(Equal("one"))
	g.Expect(got[1]).To(And(MatchError("b: no"), MatchError(adapters.ErrRefused)))
	g.Expect(got[2]).To(And(MatchError("no answer within the limit of 1s"), MatchError(ErrTimeout)))
}

func TestFailOpen(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		op   string
		err  error
		code event.ErrorCode
	}{
		{"handshake", ErrTimeout, event.ErrorTimeout},
		{"handshake", RefusedError("no"), event.ErrorProtocol},
		{"resume", RefusedError("no"), event.ErrorInvalid},
		{"resume", adapters.ErrUnsupported, event.ErrorInvalid},
		{"resume", errors.New("it names no session"), event.ErrorProtocol},
	} {
		h := &testHost{}
		FailOpen(h, c.op, c.err)
		var oe *adapters.OpenError
		g.Expect(errors.As(h.ready, &oe)).To(BeTrue())
		g.Expect(oe.Code).To(Equal(c.code), "%s: %v", c.op, c.err)
		g.Expect(oe.Op).To(Equal(c.op))
	}
}

func TestEarlyStop(t *testing.T) {
	g := NewWithT(t)
	var s EarlyStop
	n := 0
	interrupt := func() { n++ }
	s.Stop(true, interrupt)
	g.Expect(n).To(Equal(1))
	s.Stop(false, interrupt)
	g.Expect(n).To(Equal(1))
	s.TurnBegan()
	s.TurnBegan()
	g.Expect(n).To(Equal(2), "it stops one turn")
	s.Stop(false, interrupt)
	s.Cancel()
	s.TurnBegan()
	g.Expect(n).To(Equal(2))
}

type testQuestion struct{ Question }

func TestQuestions(t *testing.T) {
	verdict := func(e adapters.Effect) adapters.Judge {
		return func(context.Context, adapters.Call) adapters.Verdict {
			return adapters.Verdict{Effect: e, Reason: "why"}
		}
	}
	never := func() event.Decision { return event.DecisionAllow }
	asks := func() event.Decision { return "" }
	for name, c := range map[string]struct {
		judge    adapters.Judge
		unjudged func() event.Decision
		want     adapters.Answer // of the Judge; zero: the user decides
	}{
		"allow":                       {verdict(adapters.EffectAllow), asks, adapters.Answer{Decision: event.DecisionAllow, By: event.ByPolicy, Message: "why"}},
		"deny":                        {verdict(adapters.EffectDeny), never, adapters.Answer{Decision: event.DecisionDeny, By: event.ByPolicy, Message: "why"}},
		"ask in a mode that asks":     {verdict(adapters.EffectAsk), asks, adapters.Answer{}},
		"ask without another mode":    {verdict(adapters.EffectAsk), nil, adapters.Answer{}},
		"ask in a mode that does not": {verdict(adapters.EffectAsk), never, adapters.Answer{Decision: event.DecisionAllow, By: event.ByRuntime, Message: "why"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &testHost{}
			var open Questions[*testQuestion]
			q := &testQuestion{Question{ID: "q"}}
			open = append(open, q)
			var answers []adapters.Answer
			answer := func(a adapters.Answer) {
				open.Drop(q)
				answers = append(answers, a)
			}
			q.Judge(h, c.judge, adapters.Call{}, c.unjudged, answer)
			var replies []error
			user := adapters.Answer{Decision: event.DecisionDeny, By: event.ByUser}
			open.Answer("q", func(err error) { replies = append(replies, err) }, func(*testQuestion) error { answer(user); return nil })
			g.Expect(replies).To(BeEmpty(), "the answer waits for the Judge")
			h.work()()
			if c.want.Decision == "" {
				g.Expect(answers).To(Equal([]adapters.Answer{user}))
				g.Expect(replies).To(Equal([]error{nil}))
				return
			}
			g.Expect(answers).To(Equal([]adapters.Answer{c.want}))
			g.Expect(replies).To(HaveExactElements(MatchError(adapters.ErrUnknownID)))
		})
	}
}

func TestQuestionClosedWhileTheJudgeDecides(t *testing.T) {
	g := NewWithT(t)
	h := &testHost{}
	first, q := &testQuestion{Question{ID: "a"}}, &testQuestion{Question{ID: "q"}}
	open := Questions[*testQuestion]{first, q}
	q.Judge(h, nil, adapters.Call{}, nil, nil)
	var reply error
	open.Answer("q", func(err error) { reply = err }, nil)
	for _, x := range open.All() {
		open.Drop(x)
	}
	g.Expect(h.canceled).To(BeTrue())
	g.Expect(reply).To(MatchError(adapters.ErrUnknownID))
	g.Expect(open).To(BeEmpty())
	g.Expect(open.Find("a")).To(BeNil())
}

func TestSentAndRefusedMessages(t *testing.T) {
	g := NewWithT(t)
	var events []event.Event
	l := ledger.New(event.SessionReady{SessionID: "s"}, event.Position{}, func(e event.Event) { events = append(events, e) })
	var s Sent
	g.Expect(s.StartsTurn()).To(BeFalse())
	one, two := s.Add(adapters.Message{ID: "m1"}, event.ViaTurn), s.Add(adapters.Message{ID: "m2"}, event.ViaMerge)
	g.Expect(s.StartsTurn()).To(BeTrue())
	g.Expect(s.Remove(one)).To(BeTrue())
	g.Expect(s.Remove(one)).To(BeFalse(), "a turn has taken it")
	g.Expect(s.StartsTurn()).To(BeFalse())
	one.Refused(l, RefusedError("no such model"))
	last := events[len(events)-1]
	g.Expect(last.Data).To(Equal(event.Error{Code: event.ErrorInvalid, Message: "no such model"}))
	g.Expect(last.Turn).To(Equal(1), "the message would have started a turn")
	l.TurnStart(event.TurnStart{})
	two.Refused(l, ErrTimeout)
	g.Expect(events[len(events)-1].Data.(event.Notice).Text).To(ContainSubstring("message m2 was not taken"))
	d := event.UserMessage{Text: "hi"}
	s.Take(two, &d)
	g.Expect(d).To(Equal(event.UserMessage{MessageID: "m2", Text: "hi", Via: event.ViaMerge}))
	g.Expect(s).To(BeEmpty())
}

func TestWaitingMessages(t *testing.T) {
	g := NewWithT(t)
	var w Waiting[int]
	for i := range 3 {
		w.Add(adapters.Message{ID: string(rune('a' + i))}, i)
	}
	g.Expect(w.Withdraw("b")).To(Succeed())
	g.Expect(w.Withdraw("b")).To(MatchError(adapters.ErrUnknownID))
	m := w.Next()
	g.Expect([]any{m.ID, m.Content, w.Holds("a"), w.Len()}).To(Equal([]any{"a", 0, false, 1}))
	w.Return(m.Message, m.Content)
	g.Expect(w.Clear()).To(Equal([]string{"a", "c"}))
	g.Expect(w.Len()).To(BeZero())
	for w.Check() == nil && w.Len() < 1000 {
		w.Add(adapters.Message{}, 0)
	}
	g.Expect(w.Len()).To(Equal(maxWaiting))
	g.Expect(w.Check()).To(MatchError(adapters.ErrRefused))
}
