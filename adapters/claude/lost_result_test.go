package claude_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// A runtime that says it is done with a message, and loses the turn's result, lives
// and answers: nothing else would ever end the turn.
func TestATurnWhoseResultIsLostEnds(t *testing.T) {
	g := gomega.NewWithT(t)
	events, err, _ := play(t, adapters.Options{}, func(p *peer) {
		p.handshake()
		u := uuidOf(p.hear(`"type":"user"`))
		p.say(lifecycle(u, "queued"), lifecycle(u, "started"), initLine, lifecycle(u, "completed"))
		p.quit() // when the session is closed: it lives till then
	}, func(s adapters.Session, next func(event.Type) event.Event) {
		_ = send(s, "m1")
		next(event.TypeError)
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	errs := of[event.Error](events)
	g.Expect(errs).To(gomega.HaveLen(1))
	g.Expect(errs[0].Code).To(gomega.Equal(event.ErrorProtocol))
}
