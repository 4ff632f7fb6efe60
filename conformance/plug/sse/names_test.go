package sse

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// TestNamesOfSessions checks that the name by which a sidecar knows a session, which differs
// from run to run, is not in its events: a runtime without sessions of its own has no other id.
func TestNamesOfSessions(t *testing.T) {
	for provider, want := range map[string]string{"turnspec-17-s1": "s1", "thread-5": "thread-5"} {
		g := NewWithT(t)
		x := &session{Session: plug.NewSession(&plug.Program{Of: "chat"}, conformance.Open{Opening: op.Opening{SessionID: "s1"}}), id: "turnspec-17-s1"}
		data := jsontext.Value(`{"session_id":"turnspec-17-s1","runtime":"chat","provider_session_id":"` + provider + `"}`)
		g.Expect(x.addWhole(plug.Envelope{Type: event.TypeSessionReady, Seq: 1, SessionID: "turnspec-17-s1", Data: data})).To(Succeed())
		e := <-x.Events()
		g.Expect(e.SessionID).To(Equal("s1"))
		g.Expect(e.Data).To(And(HaveField("SessionID", "s1"), HaveField("ProviderSessionID", want)))
	}
}
