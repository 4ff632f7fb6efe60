package chats_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/backend/chats"
)

// defective is a registry that panics, as a defective reducer would.
type defective struct{}

func (defective) Check(string, string, event.Raw) error         { panic("out of range") }
func (defective) Linked(string) (name, surface string, ok bool) { panic("out of range") }

// TestAPanicIsAnErrorOfTheReducer checks that a panic of the reducer is an error that
// names package replay and the event, whatever is called afterwards.
func TestAPanicIsAnErrorOfTheReducer(t *testing.T) {
	g := NewWithT(t)
	l := chats.Live{Options: []replay.Option{replay.WithRegistry(defective{})}}
	l.Add(event.Event{SessionID: "s1", Seq: 1, Turn: 1, Data: event.Delta{Text: "a", BlockID: "b"}})
	_, err := l.Chat()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(l.View("s1")).NotTo(BeNil())
	for _, seq := range []int64{2, 3} {
		l.Add(event.Event{SessionID: "s1", Seq: seq, Turn: 1, Data: event.ToolStart{ToolUseID: "t", Tool: "bash"}})
	}
	_, err = l.Chat()
	g.Expect(err).To(MatchError("internal error: package replay panicked at event 2 (tool_start): out of range"))
	g.Expect(l.View("s1")).To(BeNil())
}

// TestChatJoinsSessions checks that the chats of two sessions are joined in the order
// of their first events.
func TestChatJoinsSessions(t *testing.T) {
	g := NewWithT(t)
	var l chats.Live
	empty, err := l.Chat()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(empty.Messages).To(BeEmpty())
	for i, session := range []string{"s2", "s1", "s2"} {
		l.Add(event.Event{SessionID: session, Seq: int64(i + 1), Turn: 1, Data: event.Delta{Text: session, BlockID: "b"}})
	}
	c, err := l.Chat()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Messages).To(HaveLen(2))
	g.Expect(c.Messages[0].Text() + " " + c.Messages[1].Text()).To(Equal("s2s2 s1"))
	g.Expect(l.View("s3")).To(BeNil())
}
