package sidecar_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// chatBody is what DefaultChatTransport posts.
func chatBody(id, text string) string {
	return `{"id":"c1","messages":[{"id":"` + id + `","role":"user","parts":[{"type":"text","text":"` + text + `"}]}],"trigger":"submit-message"}`
}

// chat posts a message and returns the open stream.
func (x *server) chat(id, text string) *http.Response {
	x.t.Helper()
	res, err := http.Post(x.http.URL+"/api/chat", "application/json", strings.NewReader(chatBody(id, text)))
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// A turn whose client closes the stream is stopped. While it reads, another message is refused.
func TestReplyLeft(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{StopAfter: time.Millisecond})
	res := x.chat("m1", "wait")
	g.Expect(res.StatusCode).To(Equal(http.StatusOK))
	status, refusal := x.call(http.MethodPost, "/api/chat", chatBody("m2", "1"))
	g.Expect(status).To(Equal(http.StatusConflict))
	g.Expect(code(refusal)).To(Equal(sidecar.CodeBusy))
	g.Expect(res.Body.Close()).To(Succeed())
	g.Eventually(func() any {
		_, run := x.call(http.MethodGet, "/sessions/c1", "")
		return run["state"]
	}).WithTimeout(time.Minute).Should(Equal("completed"))
	status, _ = x.call(http.MethodGet, "/api/chat/c1/stream", "")
	g.Expect(status).To(Equal(http.StatusNoContent), "no turn runs")
}

// A message that comes while the turn that was left goes on stops that turn first.
func TestReplyLeftThenMessage(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{StopAfter: time.Hour})
	g.Expect(x.chat("m1", "wait").Body.Close()).To(Succeed())
	g.Eventually(func() int {
		status, _ := x.call(http.MethodPost, "/api/chat", chatBody("m2", "fail"))
		return status
	}).WithTimeout(time.Minute).Should(Equal(http.StatusUnprocessableEntity), "the turn was stopped, and the runtime refuses the message")
}

func TestReplyRefuses(t *testing.T) {
	x := newServer(t, sidecar.Config{})
	for body, want := range map[string]int{
		`{"id":"..","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"1"}]}]}`: http.StatusBadRequest,
		`{"id":"c1","messages":[]}`: http.StatusBadRequest,
		chatBody("m", ""):           http.StatusBadRequest,
		`{"id":"c2","messages":[{"id":"a","role":"assistant","parts":[{"type":"dynamic-tool","state":"approval-responded","approval":{"id":"r","approved":true}}]}]}`: http.StatusNotFound,
	} {
		NewWithT(t).Expect(first(x.call(http.MethodPost, "/api/chat", body))).To(Equal(want), body)
	}
}

func first(status int, _ map[string]any) int { return status }
