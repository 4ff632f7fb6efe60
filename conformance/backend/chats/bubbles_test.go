package chats_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
)

// TestBubbles checks that each message and block of the chat is drawn with the time of its
// events, in recorded words.
func TestBubbles(t *testing.T) {
	g := NewWithT(t)
	run := &conformance.Run{ToRecorded: func(text string) string { return "recorded " + text }}
	for i, data := range []event.Data{
		event.UserMessage{MessageID: "m", Text: "Hi"},
		event.Delta{BlockID: "b", Text: "Hel"},
		event.Delta{BlockID: "b", Text: "lo"},
		event.ToolStart{ToolUseID: "t", Tool: "bash"},
		event.ToolResult{ToolUseID: "t", Status: event.ToolOK, Output: "a.txt"},
		event.Error{Code: event.ErrorAuth, Message: "no key"},
	} {
		run.Events = append(run.Events, conformance.Event{
			Event: event.Event{SessionID: "s", Seq: int64(i + 1), Turn: 1, Data: data}, At: time.Duration(i),
		})
	}
	var got []conformance.Bubble
	for _, b := range chats.Bubbles(run) {
		b.Status = ""
		got = append(got, b)
	}
	g.Expect(got).To(Equal([]conformance.Bubble{
		{From: 0, To: 0, Event: 0, Role: "user", Kind: "text", Text: "recorded Hi"},
		{From: 1, To: 2, Event: 1, Role: "assistant", Kind: "text", Text: "recorded Hello"},
		{From: 3, To: 4, Event: 3, Role: "assistant", Kind: "tool", Name: "bash", Text: "recorded a.txt"},
		{From: 5, To: 5, Event: 5, Role: "assistant", Kind: "error", Name: "auth", Text: "no key"},
	}))
}
