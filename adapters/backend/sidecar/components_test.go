package sidecar_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
)

const withComponents = `{"params":{"components":{"surfaces":["panel"],"components":[{"name":"card","surfaces":["panel"],"actions":{"pick":{}}}]}}}`

// TestComponents shows a component of the client, forwards an action of the user in it, and changes the shared
// state, also after a resume.
func TestComponents(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	open := func(path string) {
		status, refusal := x.call(http.MethodPost, path, withComponents)
		g.Expect(status).To(Equal(http.StatusCreated), "%v", refusal)
	}
	status, refusal := x.call(http.MethodPost, "/sessions", `{"params":{"components":{"surfaces":["panel"],"components":[{"name":"card","surfaces":["pannel"]}]}}}`)
	g.Expect(status).To(Equal(http.StatusBadRequest), "%v", refusal)
	x.open("plain")
	status, refusal = x.call(http.MethodGet, "/sessions/plain/state", "")
	g.Expect(status).To(Equal(http.StatusNotImplemented), "%v", refusal)

	status, refusal = x.call(http.MethodPost, "/sessions", `{"session_id":"s",`+withComponents[1:])
	g.Expect(status).To(Equal(http.StatusCreated), "%v", refusal)
	tools := x.adapter.opened[len(x.adapter.opened)-1].Tools
	show := slices.IndexFunc(tools, func(tool adapters.Tool) bool { return tool.Name == "show_component" })
	g.Expect(show).To(BeNumerically(">=", 0))
	events := x.listen("/sessions/s/events")
	result, err := tools[show].Call(t.Context(), adapters.ToolCall{Input: event.Raw(`{"id":"c","component":"card","surface":"panel","props":{"n":1}}`)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.IsError).To(BeFalse(), "%v", result.Content)
	shown := events.until("component_update")
	g.Expect(shown[len(shown)-1].data).To(ContainSubstring(`"component_id":"c"`))

	for body, want := range map[string]int{
		`{"component_id":"d","action":"pick"}`:                                      http.StatusNotFound,
		`{"component_id":"c","action":"throw"}`:                                     http.StatusBadRequest,
		`{"component_id":"c","action":"pick","payload":{"of":2},"message_id":"m1"}`: http.StatusAccepted,
	} {
		status, refusal := x.call(http.MethodPost, "/sessions/s/callback", body)
		g.Expect(status).To(Equal(want), "%s: %v", body, refusal)
	}
	sent := events.until("user_message")
	g.Expect(sent[len(sent)-1].data).To(ContainSubstring(`component_callback`))

	status, state := x.call(http.MethodPost, "/sessions/s/state", `{"version":0,"merge":{"n":1}}`)
	g.Expect(status).To(Equal(http.StatusOK), "%v", state)
	g.Expect(state).To(HaveKeyWithValue("version", 1.0))
	status, refusal = x.call(http.MethodPost, "/sessions/s/state", `{"version":0,"merge":{"n":2}}`)
	g.Expect(status).To(Equal(http.StatusConflict))
	g.Expect(code(refusal)).To(Equal(sidecar.CodeStaleState))
	status, refusal = x.call(http.MethodPost, "/sessions/s/state", `{}`)
	g.Expect(status).To(Equal(http.StatusBadRequest), "%v", refusal)

	x.call(http.MethodDelete, "/sessions/s", "")
	open("/sessions/s/resume")
	_, state = x.call(http.MethodGet, "/sessions/s/state", "")
	g.Expect(state).To(Equal(map[string]any{"version": 1.0, "state": map[string]any{"n": 1.0}}))
}

// TestPolicyOfASession reads the policy of a request. It holds beside that of the server.
func TestPolicyOfASession(t *testing.T) {
	g := NewWithT(t)
	allows := func(context.Context, adapters.Call) adapters.Verdict {
		return adapters.Verdict{Effect: adapters.EffectAllow}
	}
	denies := func(context.Context, adapters.Call) adapters.Verdict {
		return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "no"}
	}
	x := newServer(t, sidecar.Config{Base: adapters.Options{Judge: allows}, ReadPolicy: func(text event.Raw) (adapters.Judge, error) {
		if string(text) != `{"default":"deny"}` {
			return nil, errors.New("the key is unknown")
		}
		return denies, nil
	}})
	status, refusal := x.call(http.MethodPost, "/sessions", `{"params":{"policy":{"defalt":"deny"}}}`)
	g.Expect(status).To(Equal(http.StatusBadRequest), "%v", refusal)
	status, refusal = x.call(http.MethodPost, "/sessions", `{"params":{"policy":{"default":"deny"}}}`)
	g.Expect(status).To(Equal(http.StatusCreated), "%v", refusal)
	g.Expect(x.adapter.opened[0].Judge(t.Context(), adapters.Call{}).Effect).To(Equal(adapters.EffectDeny))

	status, refusal = newServer(t, sidecar.Config{}).call(http.MethodPost, "/sessions", `{"params":{"policy":{"default":"deny"}}}`)
	g.Expect(status).To(Equal(http.StatusNotImplemented), "%v", refusal)
}
