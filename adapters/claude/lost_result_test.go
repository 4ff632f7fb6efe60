package claude_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// If the runtime completes a message but loses the turn's result, it stays
// alive and answers pings, so only this rule ends the turn.
func TestTurnWithoutResultEndsInAnError(t *testing.T) {
	g := gomega.NewWithT(t)
	events, err, _ := runClient(t, adapters.Options{}, func(p *peer) {
		p.handshake()
		u := uuidOf(p.expect(`"type":"user"`))
		p.print(lifecycleLine(u, "queued"), lifecycleLine(u, "started"), initLine, lifecycleLine(u, "completed"))
		p.quit() // when the session is closed
	}, func(s adapters.Session, next func(event.Type) event.Event) {
		_ = send(s, "m1")
		next(event.TypeError)
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	errs := dataOf[event.Error](events)
	g.Expect(errs).To(gomega.HaveLen(1))
	g.Expect(errs[0].Code).To(gomega.Equal(event.ErrorProtocol))
}
