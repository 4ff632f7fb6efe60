package claude_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

const stoppedLine = `{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming"}`

// replyLine is the runtime's reply to a control request of the client.
func replyLine(line, response string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, quoted(line, `"request_id":"`), response)
}

// stopAll runs a client that stops a turn behind which a message waits.
func stopAll(t *testing.T, runtime func(p *peer)) []event.Event {
	t.Helper()
	var err error
	events, _, _ := runClient(t, adapters.Options{}, runtime, func(s adapters.Session, next func(event.Type) event.Event) {
		_ = send(s, "m1")
		next(event.TypeTurnStart)
		_ = send(s, "m2")
		next(event.TypeQueue)
		err = s.(adapters.AllStopper).StopAll(context.Background())
		next(event.TypeDone)
	})
	g := gomega.NewWithT(t)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(checkStream(events)).To(gomega.Succeed())
	return events
}

func expectAllStopped(t *testing.T, events []event.Event) {
	t.Helper()
	g := gomega.NewWithT(t)
	queues := dataOf[event.Queue](events)
	g.Expect(queues[len(queues)-1].MessageIDs).To(gomega.BeEmpty())
	g.Expect(dataOf[event.TurnStart](events)).To(gomega.HaveLen(1))
	g.Expect(dataOf[event.Done](events)).To(gomega.Equal([]event.Done{{Stopped: true, Reason: "aborted_streaming"}}))
	g.Expect(dataOf[event.Notice](events)).To(gomega.BeEmpty())
}

func TestStopAllCancelsWaitingMessages(t *testing.T) {
	expectAllStopped(t, stopAll(t, func(p *peer) {
		p.handshake()
		u1 := uuidOf(p.expect(`hi m1`))
		p.Print(lifecycleLine(u1, "queued"), lifecycleLine(u1, "started"), initLine)
		u2 := uuidOf(p.expect(`hi m2`))
		p.Print(lifecycleLine(u2, "queued"))
		stop := p.expect(`"interrupt"`, `"cancel_queued":true`)
		p.Print(lifecycleLine(u2, "cancelled"), replyLine(stop, `{"still_queued":[],"cancelled":["`+u2+`"]}`), stoppedLine, lifecycleLine(u1, "cancelled"))
		p.quit()
	}))
}

// For a version without a name in the handshake, messages are cancelled one by
// one.
func TestStopAllOnAnOlderVersion(t *testing.T) {
	g := gomega.NewWithT(t)
	var withdrawn, u2, stop string
	expectAllStopped(t, stopAll(t, func(p *peer) {
		p.Print(replyLine(p.expect(`"initialize"`), `{}`))
		p.expect(`hi m1`)
		p.Print(initLine)
		u2 = uuidOf(p.expect(`hi m2`))
		withdrawn = p.expect(`"cancel_async_message"`)
		stop = p.expect(`"interrupt"`)
		p.Print(replyLine(withdrawn, `{"cancelled":true}`), replyLine(stop, `{"still_queued":[]}`), stoppedLine)
		p.quit()
	}))
	g.Expect(withdrawn).To(gomega.ContainSubstring(u2))
	g.Expect(strings.Contains(stop, "cancel_queued")).To(gomega.BeFalse())
}
