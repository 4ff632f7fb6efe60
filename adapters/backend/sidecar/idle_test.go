package sidecar_test

import (
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/op"
)

// TestIdleSession ends the runtime of an unused session. The next message resumes it with the options that it
// was opened with. One that somebody listens to goes on, and one in a turn.
func TestIdleSession(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{IdleAfter: 30 * time.Millisecond})
	run := func(id string) map[string]any {
		_, r := x.call(http.MethodGet, "/sessions/"+id, "")
		return r
	}
	becomesIdle := func(id string) {
		g.Eventually(func() any { return run(id)["idle"] }).WithTimeout(time.Minute).Should(Equal(true))
	}
	for _, body := range []string{`{"session_id":"s","params":{"instructions":"Be brief.","workingDir":"/w"}}`, `{"session_id":"heard"}`, `{"session_id":"works"}`} {
		status, refusal := x.call(http.MethodPost, "/sessions", body)
		g.Expect(status).To(Equal(http.StatusCreated), "%v", refusal)
	}
	listener := x.listen("/sessions/heard/events")
	listener.until("session_ready")
	x.call(http.MethodPost, "/sessions/works/message", `{"message":"wait"}`)
	x.call(http.MethodPost, "/sessions/s/message", `{"message":"1"}`)
	becomesIdle("s")
	g.Expect(run("s")).To(HaveKeyWithValue("live", false))
	for _, id := range []string{"heard", "works"} {
		g.Expect(run(id)).To(HaveKeyWithValue("live", true), id)
	}

	status, refusal := x.call(http.MethodPost, "/sessions/s/stop", "")
	g.Expect(status).To(Equal(http.StatusConflict), "%v", refusal)
	g.Expect(run("s")).To(HaveKeyWithValue("live", false), "a stop wakes no runtime")
	status, refusal = x.call(http.MethodPost, "/sessions/s/message", `{"message":"1","message_id":"m2"}`)
	g.Expect(status).To(Equal(http.StatusAccepted), "%v", refusal)
	g.Eventually(func() any { return run("s")["turn"] }).WithTimeout(time.Minute).Should(Equal(2.0))
	resumed := x.adapter.opened[len(x.adapter.opened)-1]
	g.Expect(resumed.Resume).To(Equal("p-s"))
	g.Expect(resumed.Instructions).To(Equal("Be brief."))
	g.Expect(resumed.Dir).To(Equal("/w"))

	becomesIdle("s")
	status, ended := x.call(http.MethodDelete, "/sessions/s", "")
	g.Expect(status).To(Equal(http.StatusOK))
	g.Expect(ended).NotTo(HaveKey("idle"))
	g.Expect(first(x.call(http.MethodPost, "/sessions/s/message", `{"message":"1"}`))).To(Equal(http.StatusGone), "it was ended")

	listener.close()
	becomesIdle("heard")
}

// TestIdleSessionKeepsItsModel resumes a session with the model that was set after it was opened.
func TestIdleSessionKeepsItsModel(t *testing.T) {
	g := NewWithT(t)
	a, log := &operable{calls: make(chan op.Call, 2)}, &eventlog.Memory{}
	x := serverOf(t, sidecar.New(sidecar.Config{Log: log, Adapters: map[string]adapters.Adapter{"operable": a}, IdleAfter: 20 * time.Millisecond}), log)
	x.call(http.MethodPost, "/sessions", `{"session_id":"s","params":{"model":"heron-1"}}`)
	status, refusal := x.call(http.MethodPost, "/sessions/s/do", `{"do":"set_model","model":"heron-2"}`)
	g.Expect(status).To(Equal(http.StatusAccepted), "%v", refusal)
	g.Eventually(func() any {
		_, r := x.call(http.MethodGet, "/sessions/s", "")
		return r["idle"]
	}).WithTimeout(time.Minute).Should(Equal(true))
	status, refusal = x.call(http.MethodPost, "/sessions/s/do", `{"do":"compact"}`)
	g.Expect(status).To(Equal(http.StatusAccepted), "%v", refusal)
	g.Expect(a.opened).To(HaveLen(2))
	g.Expect(a.opened[1].Model).To(Equal("heron-2"))
}
