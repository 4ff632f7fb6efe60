package message_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/event"
)

// TestNoticeFollowsTheTextBeforeIt checks that text that waits for the end of its paragraph is
// written before a notice that came after it, and usage, which comes at any time, is not.
func TestNoticeFollowsTheTextBeforeIt(t *testing.T) {
	g := gomega.NewWithT(t)
	var translator message.Translator
	translate := func(d event.Data) []message.Message { return translator.Translate(event.Event{Data: d, Turn: 1}) }
	g.Expect(translate(event.Delta{Text: "The Danube, ", BlockID: "b"})).To(gomega.BeEmpty())
	g.Expect(translate(event.Usage{})).To(gomega.HaveLen(1))
	out := translate(event.Notice{Level: event.LevelWarning, Code: event.NoticeGarbage, Text: "a line is not JSON"})
	g.Expect(out).To(gomega.HaveLen(2))
	g.Expect(out[0]).To(gomega.Equal(message.AssistantText{Content: "The Danube, ", BlockID: "b"}))
	g.Expect(out[1]).To(gomega.BeAssignableToTypeOf(message.AgentNotification{}))
}
