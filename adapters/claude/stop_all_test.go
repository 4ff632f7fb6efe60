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

// answering is the runtime's reply to a control request of the client.
func answering(line, response string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, quoted(line, `"request_id":"`), response)
}

// stopAll is a client that stops a turn behind which a message waits.
func stopAll(t *testing.T, runtime func(p *peer)) []event.Event {
	t.Helper()
	var err error
	events, _, _ := play(t, adapters.Options{}, runtime, func(s adapters.Session, next func(event.Type) event.Event) {
		_ = send(s, "m1")
		next(event.TypeTurnStart)
		_ = send(s, "m2")
		next(event.TypeQueue)
		err = s.(adapters.AllStopper).StopAll(context.Background())
		next(event.TypeDone)
	})
	g := gomega.NewWithT(t)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(broken(events)).To(gomega.Succeed())
	return events
}

func expectAllStopped(t *testing.T, events []event.Event) {
	t.Helper()
	g := gomega.NewWithT(t)
	queues := of[event.Queue](events)
	g.Expect(queues[len(queues)-1].MessageIDs).To(gomega.BeEmpty())
	g.Expect(of[event.TurnStart](events)).To(gomega.HaveLen(1))
	g.Expect(of[event.Done](events)).To(gomega.Equal([]event.Done{{Stopped: true, Reason: "aborted_streaming"}}))
	g.Expect(of[event.Notice](events)).To(gomega.BeEmpty())
}

func TestAStopOfAllTakesBackWhatWaits(t *testing.T) {
	expectAllStopped(t, stopAll(t, func(p *peer) {
		p.handshake()
		u1 := uuidOf(p.hear(`hi m1`))
		p.say(lifecycle(u1, "queued"), lifecycle(u1, "started"), initLine)
		u2 := uuidOf(p.hear(`hi m2`))
		p.say(lifecycle(u2, "queued"))
		stop := p.hear(`"interrupt"`, `"cancel_queued":true`)
		p.say(lifecycle(u2, "cancelled"), answering(stop, `{"still_queued":[],"cancelled":["`+u2+`"]}`), stoppedLine, lifecycle(u1, "cancelled"))
		p.quit()
	}))
}

// A version that does not name itself in the handshake takes messages back one
// by one.
func TestAStopOfAllOnAnOlderVersion(t *testing.T) {
	g := gomega.NewWithT(t)
	var withdrawn, u2, stop string
	expectAllStopped(t, stopAll(t, func(p *peer) {
		p.say(answering(p.hear(`"initialize"`), `{}`))
		p.hear(`hi m1`)
		p.say(initLine)
		u2 = uuidOf(p.hear(`hi m2`))
		withdrawn = p.hear(`"cancel_async_message"`)
		stop = p.hear(`"interrupt"`)
		p.say(answering(withdrawn, `{"cancelled":true}`), answering(stop, `{"still_queued":[]}`), stoppedLine)
		p.quit()
	}))
	g.Expect(withdrawn).To(gomega.ContainSubstring(u2))
	g.Expect(strings.Contains(stop, "cancel_queued")).To(gomega.BeFalse())
}
