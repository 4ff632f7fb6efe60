package dialect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/uistream"
	"github.com/turnspec/turnspec/adapters/event"
)

// TestReplyWithQuestion ends a stream of useChat with a question of the runtime, and goes on with its answer. The
// tools of the runtime are providerExecuted, so that the client answers the question only.
func TestReplyWithQuestion(t *testing.T) {
	g := NewWithT(t)
	seq := int64(0)
	next := func(d event.Data) event.Event {
		seq++
		return event.Event{Data: d, Seq: seq, SessionID: "s", Turn: 1}
	}
	asked := []event.Event{
		next(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{"m"}}),
		next(event.Delta{Text: "Well", MessageID: "a", BlockID: "b"}),
		next(event.ToolStart{ToolUseID: "t", Tool: "AskUserQuestion", Input: event.Raw(`{}`)}),
		next(event.Interrupt{InterruptID: "q", ComponentName: "question", Props: event.Raw(`{"text":"Which?"}`), Surface: "chat"}),
	}
	streamOf := func(answered bool, skipped, events []event.Event) (lines []string) {
		r := uistream.NewReply("m", func(string) bool { return answered })
		for _, e := range skipped {
			r.Skip(e)
		}
		chunks := r.Begin()
		for _, e := range events {
			chunks = append(chunks, r.Translate(e)...)
		}
		check := new(uistream.Checker)
		for _, c := range chunks {
			problems := check.Add(c.Encode())
			if skipped == nil { // the parts of a stream that goes on are in the earlier one
				g.Expect(problems).To(BeEmpty(), string(c.Encode()))
			}
			var brief struct {
				Type, ToolCallID string
				ProviderExecuted bool
				Output           json.RawMessage
			}
			g.Expect(json.Unmarshal(c.Encode(), &brief)).To(Succeed())
			if brief.ToolCallID != "" || brief.Type == "finish" {
				lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %v %s", brief.Type, brief.ToolCallID, brief.ProviderExecuted, brief.Output)))
			}
		}
		g.Expect(check.End()).To(BeEmpty())
		return lines
	}
	g.Expect(streamOf(false, nil, asked)).To(Equal([]string{
		"tool-input-start t true", "tool-input-available t true",
		"tool-input-start question/q false", "tool-input-available question/q false", "finish  false",
	}))
	g.Expect(streamOf(true, asked, []event.Event{
		next(event.InterruptResolved{InterruptID: "q", Value: event.Raw(`{"Which?":"this"}`), By: event.ByUser}),
		next(event.ToolResult{ToolUseID: "t", Status: event.ToolOK, Output: "this"}),
		next(event.Done{}),
	})).To(Equal([]string{
		`tool-output-available question/q true {"Which?":"this"}`, `tool-output-available t true "this"`, "finish  false",
	}))

	body := func(state string) string {
		return `{"id":"s","messages":[{"id":"a","role":"assistant","parts":[{"type":"dynamic-tool","toolCallId":"t","state":"output-available","output":"x","providerExecuted":true},` +
			`{"type":"dynamic-tool","toolCallId":"question/q",` + state + `}]}]}`
	}
	in, err := uistream.ReadRequest([]byte(body(`"state":"output-available","output":{"Which?":"this"}`)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(in.Answers).To(HaveLen(1))
	g.Expect(in.Answers[0].To).To(Equal("q"))
	g.Expect(string(in.Answers[0].Answer.Value)).To(Equal(`{"Which?":"this"}`))
	in, err = uistream.ReadRequest([]byte(body(`"state":"output-error","errorText":"not now"`)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(in.Answers[0].Answer).To(And(HaveField("Decision", event.DecisionDeny), HaveField("Message", "not now")))
	_, err = uistream.ReadRequest([]byte(body(`"state":"output-available","output":1,"providerExecuted":true`)))
	g.Expect(err).To(MatchError(ContainSubstring("answers no request")), "the server has confirmed the answer")
}
