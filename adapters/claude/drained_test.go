package claude_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// A session that is resumed may first end what a dead command of the last process left: the
// runtime answers a notification, and then the message that the client has sent. The answer to
// the notification is a turn of the runtime's own, with or without lifecycles of messages.
func TestNotificationIsAnsweredFirst(t *testing.T) {
	const (
		notification = `{"type":"system","subtype":"task_notification","task_id":"b1","status":"stopped","summary":"no record"}`
		said         = `{"type":"assistant","message":{"id":%q,"content":[{"type":"text","text":%q}]},"parent_tool_use_id":null}`
		result       = `{"type":"result","subtype":"success","is_error":false,"result":%q,"num_turns":%d,"terminal_reason":"completed","uuid":%q%s}`
		origin       = `,"origin":{"kind":"task-notification","producer":"session-task"}`
	)
	for name, c := range map[string]struct {
		lifecycles bool
		first      []string // what the runtime writes before the answer to the message
		turns      []string // cause and text of each turn
	}{
		"with lifecycles": {true, []string{notification, initLine, fmt.Sprintf(said, "n", "It stopped."), fmt.Sprintf(result, "It stopped.", 1, "r1", origin)},
			[]string{"task It stopped.", "user The answer."}},
		"without lifecycles": {false, []string{notification, initLine, fmt.Sprintf(said, "n", "It stopped."), fmt.Sprintf(result, "It stopped.", 1, "r1", origin)},
			[]string{"task It stopped.", "user The answer."}},
		"nothing is said, with lifecycles": {true, []string{notification, fmt.Sprintf(result, "", 0, "r1", origin)}, []string{"user The answer."}},
		"nothing is said":                  {false, []string{notification, fmt.Sprintf(result, "", 0, "r1", origin)}, []string{"user The answer."}},
		"only a result":                    {false, []string{fmt.Sprintf(result, "", 0, "r1", origin)}, []string{"user The answer."}},
		"the result alone has the words":   {false, []string{fmt.Sprintf(result, "It stopped.", 1, "r1", origin)}, []string{"task It stopped.", "user The answer."}},
		"two notifications": {false, []string{
			notification, initLine, fmt.Sprintf(said, "n", "One."), fmt.Sprintf(result, "One.", 1, "r1", origin),
			strings.Replace(notification, "b1", "b2", 1), initLine, fmt.Sprintf(said, "k", "Two."), fmt.Sprintf(result, "Two.", 1, "r2", origin)},
			[]string{"task One.", "task Two.", "user The answer."}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			events, openErr, _ := runClient(t, adapters.Options{Opening: op.Opening{Resume: "11111111-1111-4111-8111-111111111111"}}, func(p *peer) {
				p.handshake()
				u := uuidOf(p.expect(`"type":"user"`))
				if c.lifecycles {
					p.Print(lifecycleLine(u, "queued"))
				}
				p.Print(c.first...)
				if c.lifecycles {
					p.Print(lifecycleLine(u, "started"))
				}
				p.Print(initLine, fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"hello"},"parent_tool_use_id":null,"isReplay":true,"uuid":%q}`, u),
					fmt.Sprintf(said, "a", "The answer."), fmt.Sprintf(result, "The answer.", 1, "r9", ""))
				if c.lifecycles {
					p.Print(lifecycleLine(u, "completed"))
				}
				p.quit()
			}, func(s adapters.Session, next func(event.Type) event.Event) {
				_ = s.Send(context.Background(), adapters.Message{ID: "m1", Text: "hello"})
				for range c.turns {
					next(event.TypeDone)
				}
				_ = s.Close(context.Background())
			})
			g.Expect(openErr).NotTo(gomega.HaveOccurred())
			var turns, messages []string
			for _, e := range events {
				switch d := e.Data.(type) {
				case event.TurnStart:
					turns = append(turns, string(d.Cause)+" ")
				case event.Result:
					turns[len(turns)-1] += d.Text
				case event.UserMessage:
					messages = append(messages, fmt.Sprintf("%s in turn %d", d.MessageID, e.Turn))
				}
			}
			g.Expect(turns).To(gomega.Equal(c.turns))
			g.Expect(messages).To(gomega.Equal([]string{fmt.Sprintf("m1 in turn %d", len(c.turns))}))
		})
	}
}
