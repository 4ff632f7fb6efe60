package sse_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/sse"
)

// routes are handlers by method and path.
type routes map[string]func(w http.ResponseWriter, r *http.Request)

func answer(status int, kind, text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, text)
	}
}

// streams writes frames, and then ends the response or keeps it open.
func streams(ends bool, frames ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, ": connected\n\n")
		for _, f := range frames {
			_, _ = fmt.Fprint(w, f)
		}
		_ = http.NewResponseController(w).Flush()
		if !ends {
			<-r.Context().Done()
		}
	}
}

const asJSON = "application/json"

// like returns the routes of a sidecar that emits nothing, with the routes in but
// replacing its own.
func like(but routes) routes {
	all := routes{
		"GET /health":               answer(200, asJSON, `{"ok":true}`),
		"POST /sessions":            answer(201, asJSON, `{"id":"s1"}`),
		"GET /sessions/s1/events":   streams(false),
		"POST /sessions/s1/message": answer(202, asJSON, `{"ok":true,"accepted":true}`),
		"POST /sessions/s1/stop":    answer(200, asJSON, `{"ok":true}`),
		"DELETE /sessions/s1":       answer(204, asJSON, ""),
	}
	for path, f := range but {
		if all[path] = f; f == nil {
			delete(all, path)
		}
	}
	return all
}

// serve serves routes and opens a session.
func serve(t *testing.T, all routes, o conformance.Open) (adapters.Session, error) {
	t.Helper()
	mux := http.NewServeMux()
	for path, f := range all {
		mux.HandleFunc(path, f)
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.CloseClientConnections)
	t.Cleanup(srv.Close)
	o.SessionID, o.Dir = "s1", t.TempDir()
	s := &sse.Subject{Program: plug.Program{Of: "claude"}, URL: srv.URL + "/"}
	sess, err := s.Open(t.Context(), o)
	if err == nil {
		t.Cleanup(func() { _ = sess.Close(t.Context()) })
	}
	return sess, err
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		but  routes
		says []string
	}{
		"no route":            {routes{"POST /sessions": nil}, []string{"POST /sessions: there is no such route: 404", "ROUTES.md", "if they have a prefix"}},
		"another method":      {routes{"POST /sessions": nil, "GET /sessions": answer(200, asJSON, "[]")}, []string{"POST /sessions: there is no such route: 405"}},
		"no JSON":             {routes{"POST /sessions": answer(200, "text/html", "<html>")}, []string{"the answer is no JSON object: <html>", `next: answer {"ok":true}`}},
		"another session":     {routes{"POST /sessions": answer(201, asJSON, `{"id":"x/7"}`)}, []string{`GET /sessions/x%2F7/events: the sidecar has no session "x/7"`, `{"id":"…"}`}},
		"no stream":           {routes{"GET /sessions/s1/events": answer(200, asJSON, "[]")}, []string{`want a stream of events (text/event-stream), got Content-Type "application/json"`, "flush the headers"}},
		"a stream that fails": {routes{"GET /sessions/s1/events": answer(500, asJSON, "")}, []string{"got 500 Internal Server Error"}},
		"an unknown ability":  {routes{"GET /health": answer(200, asJSON, `{"can":["fly"]}`)}, []string{`GET /health: can: there is no "fly", only answer`, "ROUTES.md"}},
		"an unknown type":     {routes{"GET /health": answer(200, asJSON, `{"events":["text"]}`)}, []string{`events: there is no type "text"`}},
		"another runtime":     {routes{"GET /health": answer(200, asJSON, `{"runtime":"codex"}`)}, []string{"give --runtime codex"}},
		"a bad declaration":   {routes{"GET /health": answer(200, asJSON, `{"can":"all"}`)}, []string{"GET /health: ", `{"can":"all"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			_, err := serve(t, like(c.but), conformance.Open{})
			g.Expect(err).To(MatchError(conformance.ErrProtocol))
			var typed *adapters.OpenError
			g.Expect(errors.As(err, &typed)).To(BeTrue())
			for _, s := range c.says {
				g.Expect(err).To(MatchError(ContainSubstring(s)))
			}
		})
	}
}

func TestStartErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	there := srv.URL
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Cleanup(srv.Close)
	for name, c := range map[string]struct {
		s    sse.Subject
		says []string
	}{
		"no server":     {sse.Subject{URL: gone.URL}, []string{"no server answers at " + gone.URL, "turnspec env"}},
		"no address":    {sse.Subject{URL: "localhost:3000"}, []string{"does not begin with http://", "http://127.0.0.1:3000"}},
		"no host":       {sse.Subject{URL: "http:///x"}, []string{"names no host"}},
		"port 0":        {sse.Subject{URL: "http://127.0.0.1:0"}, []string{"port 0 needs a command"}},
		"no port":       {sse.Subject{URL: "http://127.0.0.1", Program: plug.Program{Command: []string{"sh"}}}, []string{"names no port"}},
		"port is taken": {sse.Subject{URL: there, Program: plug.Program{Command: []string{"sh"}}}, []string{"something listens at", "give port 0"}},
		"no command":    {sse.Subject{URL: "http://127.0.0.1:0", Program: plug.Program{Command: []string{"no-such-sidecar"}}}, []string{`"no-such-sidecar" could not be started`, "next: run it by hand"}},
		"it ends": {
			sse.Subject{URL: "http://127.0.0.1:0", Program: plug.Program{Command: []string{"sh", "-c", "echo no port $PORT {port} >&2; exit 3"}}},
			[]string{"the sidecar ended (exit code 3) while it had to listen at http://127.0.0.1:", "stderr: no port "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			c.s.Of = "claude"
			_, err := c.s.Open(t.Context(), conformance.Open{Opening: op.Opening{SessionID: "s1", Dir: t.TempDir()}})
			g.Expect(err).To(MatchError(conformance.ErrProtocol))
			for _, s := range c.says {
				g.Expect(err).To(MatchError(ContainSubstring(s)))
			}
		})
	}
}

func TestRefusalIsNoProtocolError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		code   event.ErrorCode
		says   string
	}{
		"with a code":     {500, `{"error":{"code":"start_failure","message":"no licence"}}`, event.ErrorStartFailure, "no licence"},
		"with words":      {400, `{"error":"no such folder"}`, event.ErrorInvalid, "400 Bad Request: no such folder"},
		"with text alone": {502, "bad luck", event.ErrorUnknown, "bad luck"},
		"without a key":   {401, "", event.ErrorAuth, "401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			_, err := serve(t, like(routes{"POST /sessions": answer(c.status, asJSON, c.body)}), conformance.Open{})
			var typed *adapters.OpenError
			g.Expect(errors.As(err, &typed)).To(BeTrue())
			g.Expect(typed.Code).To(Equal(c.code))
			g.Expect(err).To(MatchError(ContainSubstring(c.says)))
			g.Expect(err).NotTo(MatchError(conformance.ErrProtocol))
		})
	}
}

func TestOptionsWithoutARouteAreUnsupported(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]conformance.Open{
		"asking without a route for answers": {Ask: true},
		"a mode without a word":              {Opening: op.Opening{Mode: adapters.ModeReadOnly}},
		"a fork":                             {Opening: op.Opening{Fork: true, Resume: "x"}},
		"servers of its own":                 {MCP: []adapters.MCPServer{{Name: "m"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			_, err := serve(t, like(nil), o)
			g.Expect(err).To(MatchError(conformance.ErrDeclaredUnsupported))
		})
	}
	g := NewWithT(t)
	_, err := serve(t, like(routes{"POST /sessions": answer(501, asJSON, "")}), conformance.Open{})
	g.Expect(err).To(MatchError(conformance.ErrDeclaredUnsupported))
	sess, err := serve(t, like(nil), conformance.Open{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sess.(adapters.Steerer).Steer(t.Context(), adapters.Message{ID: "m2", Text: "On."})).To(MatchError(conformance.ErrDeclaredUnsupported))
	g.Expect(sess.Answer(t.Context(), "p1", adapters.Answer{})).To(MatchError(conformance.ErrDeclaredUnsupported))
	g.Expect(sess.Send(t.Context(), adapters.Message{ID: "m1", Text: "Hi."})).To(Succeed())
	g.Expect(sess.Send(t.Context(), adapters.Message{ID: "m2", Text: "Hi."})).To(MatchError(conformance.ErrDeclaredUnsupported), "the plain form has no turns")
}

// data returns a frame with an event.
func data(text string) string { return "data: " + text + "\n\n" }

func TestStreamErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frame string
		says  []string
	}{
		"no JSON":             {data("hello"), []string{"event 1 of the stream is not right: data is no event", "one line data: with the event as JSON"}},
		"half an event":       {data(`{"type":"delta"`), []string{"data is no event"}},
		"no type":             {data(`{"text":"a"}`), []string{"type: missing"}},
		"two types":           {"event: done\n" + data(`{"type":"delta","data":{"text":"a"}}`), []string{`the line event: says "done"`}},
		"a wrong member":      {data(`{"type":"delta","data":{"text":7}}`), []string{"data.text: want a string", "schema.json"}},
		"no member":           {data(`{"type":"tool_start","data":{"tool":"Bash"}}`), []string{"data.tool_use_id: missing"}},
		"of another session":  {data(`{"type":"delta","session_id":"s9","data":{"text":"a"}}`), []string{`session_id: the stream is that of "s1"`}},
		"it was not declared": {data(`{"type":"turn_start","data":{}}`), []string{"event 1 of the stream is turn_start, which GET /health does not declare", `{"events":[…]}`}},
		"the stream ends":     {"", []string{"the stream of events ended (EOF) while a session was open", "keep it open until the session is deleted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			sess, err := serve(t, like(routes{"GET /sessions/s1/events": streams(c.frame == "", c.frame)}), conformance.Open{})
			g.Expect(err).NotTo(HaveOccurred())
			for range sess.Events() { // closed after the error
			}
			err = sess.(conformance.ProtocolChecker).ProtocolError()
			var m *plug.Error
			g.Expect(errors.As(err, &m)).To(BeTrue())
			for _, s := range c.says {
				g.Expect(err).To(MatchError(ContainSubstring(s)))
			}
			g.Expect(sess.Send(t.Context(), adapters.Message{ID: "m1", Text: "Hi."})).To(MatchError(conformance.ErrProtocol))
		})
	}
}

// told opens a session with a stream and returns its first n events as text.
func told(t *testing.T, n int, all routes) []string {
	t.Helper()
	sess, err := serve(t, like(all), conformance.Open{})
	if err != nil {
		t.Fatal(err)
	}
	limit := time.After(time.Minute)
	var out []string
	for len(out) < n {
		select {
		case e, open := <-sess.Events():
			if !open {
				t.Fatalf("the events ended: %v", sess.(conformance.ProtocolChecker).ProtocolError())
			}
			e.TS = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			b, err := e.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(string(b), `"data":`)
			text, _, _ = strings.Cut(text, `,"ts":`)
			out = append(out, string(e.Type())+" "+text)
		case <-limit:
			t.Fatalf("%d events are wanted, there are: %s", n, out)
		}
	}
	return out
}

// TestPlainFormIsFilledIn checks members that the plain form lacks or has in another
// form.
func TestPlainFormIsFilledIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ frame, want string }{
		"its own members":   {`{"type":"thinking","data":{"text":"a","model":null,"mine":1}}`, `thinking {"text":"a"}`},
		"its own types":     {`{"type":"heartbeat","data":{}}`, `notice {"level":"warning","code":"unknown_message","text":"an event of no known type","raw":{"type":"heartbeat","data":{}}}`},
		"blocks of output":  {`{"type":"tool_result","data":{"tool_use_id":"t","output":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"is_error":true}}`, `tool_result {"tool_use_id":"t","output":"a\nb","is_error":true,"status":"error"}`},
		"a question":        {`{"type":"permission_request","data":{"tool_name":"Bash","tool_input":{}}}`, `permission_request {"request_id":"p1","tool_name":"Bash","tool_input":{}}`},
		"its end":           {`{"type":"permission_resolved","data":{"tool_name":"Bash","allowed":true}}`, `permission_resolved {"request_id":"unasked","tool_name":"Bash","allowed":true,"decision":"allow","by":"policy"}`},
		"a code of its own": {`{"type":"error","data":{"message":"m","code":"E7"}}`, `error {"message":"m","code":"unknown"}`},
		"a component":       {`{"type":"component_update","data":{"component_id":"c","name":"n","surface":"chat","props":{},"merge":false}}`, `component_update {"component_id":"c","component_name":"n","props":{},"surface":"chat"}`},
		"text":              {`{"type":"delta","data":{"text":"a"}}`, `delta {"text":"a","message_id":"0.1","block_id":"0.1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			got := told(t, 2, routes{"GET /sessions/s1/events": streams(false, "event: ping\n\n", data(c.frame))})
			g.Expect(got[0]).To(HavePrefix("session_ready "))
			g.Expect(got[1]).To(Equal(c.want))
		})
	}
}

// TestStoppedTurnEndsItsCalls checks the calls of sub-agents too.
func TestStoppedTurnEndsItsCalls(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	sess, err := serve(t, like(routes{"GET /sessions/s1/events": streams(false,
		data(`{"type":"tool_start","data":{"tool_use_id":"t1","tool":"Bash"}}`),
		data(`{"type":"tool_start","data":{"tool_use_id":"t2","tool":"Bash","subagent_id":"a"}}`),
		data(`{"type":"done","data":{"stopped":true}}`))}), conformance.Open{})
	g.Expect(err).NotTo(HaveOccurred())
	var ended []string
	for e := range sess.Events() {
		if d, is := e.Data.(event.ToolResult); is {
			g.Expect(d.Status).To(Equal(event.ToolInterrupted))
			ended = append(ended, d.ToolUseID+" of "+e.SubagentID)
		}
		if e.Type() == event.TypeDone {
			break
		}
	}
	g.Expect(ended).To(Equal([]string{"t1 of ", "t2 of a"}))
}

// TestProviderSessionIDIsReported: a sidecar sends the runtime's id when the session
// is created, or with the first message.
func TestProviderSessionIDIsReported(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	got := told(t, 1, routes{"POST /sessions": answer(201, asJSON, `{"provider_session_id":"7d"}`)})
	g.Expect(got[0]).To(ContainSubstring(`"provider_session_id":"7d"`))
	got = told(t, 1, routes{"GET /sessions/s1/events": streams(false,
		data(`{"type":"session_ready","data":{"session_id":"s1","runtime":"claude"}}`), data(`{"type":"session_ready","data":{"session_id":"s1","provider_session_id":"7d"}}`))})
	g.Expect(got[0]).To(ContainSubstring(`"provider_session_id":"7d"`))
}
