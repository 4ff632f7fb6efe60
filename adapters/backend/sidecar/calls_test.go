package sidecar_test

import (
	"context"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
)

// TestClientCalls lets the runtime call a tool and a hook of the client: a client receives the call, also one that
// connects later, and its result reaches the runtime. A call that is cancelled ends.
func TestClientCalls(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	status, refusal := x.call(http.MethodPost, "/sessions", `{"session_id":"s","params":{"tools":[{"name":"weather","read_only":true}]}}`)
	g.Expect(status).To(Equal(http.StatusCreated), "%v", refusal)
	offered := x.adapter.opened[0].Tools
	g.Expect(offered).To(HaveLen(1))
	g.Expect(offered[0]).To(And(HaveField("Name", "weather"), HaveField("ReadOnly", true)))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answers, failed := make(chan adapters.ToolAnswer, 1), make(chan error, 1)
	call := func() {
		a, err := offered[0].Call(ctx, adapters.ToolCall{ID: "t1", Input: event.Raw(`{"of":"Ulm"}`)})
		if err != nil {
			failed <- err
			return
		}
		answers <- a
	}
	go call()
	early := x.listen("/sessions/s/calls")
	f := early.until("call")
	g.Expect(f[0].data).To(MatchJSON(`{"id":"c1","tool":"weather","input":{"of":"Ulm"},"tool_use_id":"t1"}`))
	second := x.listen("/sessions/s/calls")
	second.until("call")
	g.Expect(first(x.call(http.MethodPost, "/sessions/s/calls/c9", `{"content":[]}`))).To(Equal(http.StatusNotFound))
	g.Expect(first(x.call(http.MethodPost, "/sessions/s/calls/c1", `{"contnt":[]}`))).To(Equal(http.StatusBadRequest))
	g.Expect(first(x.call(http.MethodPost, "/sessions/s/calls/c1", `{"content":[{"text":"rain"},{"image":"AQI=","mime":"image/png"}]}`))).To(Equal(http.StatusAccepted))
	g.Expect(<-answers).To(Equal(adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: "rain"}, {Image: []byte{1, 2}, MIME: "image/png"}}}))
	for _, l := range []*listener{early, second} {
		l.until("end")
	}
	go call()
	early.until("call")
	g.Expect(first(x.call(http.MethodPost, "/sessions/s/calls/c2", `{"error":"no connection"}`))).To(Equal(http.StatusAccepted))
	g.Expect(<-failed).To(MatchError("no connection"))
	early.until("end")
	go call()
	early.until("call")
	cancel()
	g.Expect(<-failed).To(MatchError(context.Canceled))
	ended := early.until("end")
	g.Expect(ended[len(ended)-1].data).To(MatchJSON(`{"id":"c3"}`))
	g.Expect(first(x.call(http.MethodPost, "/sessions/s/calls/c3", `{"content":[]}`))).To(Equal(http.StatusNotFound), "it does not wait any more")
	x.call(http.MethodDelete, "/sessions/s", "")
	early.until("")
}
