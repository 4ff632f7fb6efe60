package sidecar_test

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// TestHealthListsAbilities checks that health has the operations and the options that all runtimes of the
// server have.
func TestHealthListsAbilities(t *testing.T) {
	g := NewWithT(t)
	abilities := func(all map[string]adapters.Adapter) any {
		log := &eventlog.Memory{}
		_, health := serverOf(t, sidecar.New(sidecar.Config{Log: log, Adapters: all}), log).call("GET", "/health", "")
		return health["can"].([]any)[9:]
	}
	g.Expect(abilities(map[string]adapters.Adapter{"scripted": &scripted{}})).To(Equal([]any{
		"rewind", "model", "fork", "instructions", "effort", "max_requests", "max_cost", "extra_dirs", "setting_sources", "stream_tool_input", "mcp", "schema", "tools", "components",
	}))
	g.Expect(abilities(map[string]adapters.Adapter{"scripted": &scripted{}, "listing": &listing{}})).To(Equal([]any{"model"}))
}

// TestTurnsAreCountedOn checks that the turns of a fork, and of a session that is resumed, go on after those that
// the client knows of.
func TestTurnsAreCountedOn(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	x.call("POST", "/sessions/s/message", `{"message":"1"}`)
	x.listen("/sessions/s/events").until("done")
	x.call("DELETE", "/sessions/s", "")
	for _, c := range []struct {
		path, body, id string
		want           float64
	}{
		{"/sessions", `{"session_id":"f","provider_session_id":"p-s","after":{"seq":7,"turn":4},"params":{"fork":true}}`, "f", 5},
		{"/sessions/s/resume", `{"after":{"turn":5}}`, "s", 6},
		{"/sessions", `{"session_id":"new","after":{"seq":7,"turn":4}}`, "new", 1},
	} {
		status, answer := x.call("POST", c.path, c.body)
		g.Expect(status).To(Equal(http.StatusCreated), "%v", answer)
		x.call("POST", "/sessions/"+c.id+"/message", `{"message":"1"}`)
		x.listen("/sessions/" + c.id + "/events").until("done")
		_, run := x.call("GET", "/sessions/"+c.id, "")
		g.Expect(run["turn"]).To(Equal(c.want), c.path)
		x.call("DELETE", "/sessions/"+c.id, "")
	}
	x.call("POST", "/sessions/s/resume", `{"after":{"turn":1}}`) // the log knows better
	x.call("POST", "/sessions/s/message", `{"message":"1"}`)
	x.listen("/sessions/s/events").until("done")
	_, run := x.call("GET", "/sessions/s", "")
	g.Expect(run["turn"]).To(Equal(7.0))
}
