package sidecar_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

func (x *server) open(id string) {
	x.t.Helper()
	if status, answer := x.call("POST", "/sessions", fmt.Sprintf(`{"session_id":%q}`, id)); status != http.StatusCreated {
		x.t.Fatalf("open: %d %v", status, answer)
	}
}

func TestGuard(t *testing.T) {
	x := newServer(t, sidecar.Config{Token: "secret", Hosts: []string{"chat.example"}, Origins: []string{"https://page.example"}})
	const bearer = "Bearer secret"
	for _, c := range []struct {
		name   string
		header []string
		status int
	}{
		{"no token", nil, 401},
		{"a wrong token", []string{"Authorization", "Bearer secre"}, 401},
		{"the token", []string{"Authorization", bearer}, 200},
		{"the scheme in lower case", []string{"Authorization", "bearer secret"}, 200},
		{"another scheme", []string{"Authorization", "Basic secret"}, 401},
		{"the token in the cookie", []string{"Cookie", "turnspec_token=secret"}, 200},
		{"the token in the query", nil, 401},
		{"a rebound name", []string{"Authorization", bearer, "Host", "attacker.example"}, 403},
		{"an allowed name", []string{"Authorization", bearer, "Host", "chat.example:80"}, 200},
		{"a foreign origin", []string{"Authorization", bearer, "Origin", "http://attacker.example"}, 403},
		{"the origin null", []string{"Authorization", bearer, "Origin", "null"}, 403},
		{"an allowed origin", []string{"Authorization", bearer, "Origin", "https://page.example"}, 200},
		{"its own origin", []string{"Authorization", bearer, "Origin", x.http.URL}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, path := range []string{"/health", "/sessions"} {
				if c.name == "the token in the query" {
					path += "?token=secret"
				}
				if status, answer := x.call("GET", path, "", c.header...); status != c.status {
					t.Errorf("%s: %d %v, want %d", path, status, answer, c.status)
				}
			}
		})
	}
}

// TestPagesOfAnotherOrigin checks what a browser needs before it hands an answer to a page of an
// allowed origin, and that other pages get nothing.
func TestPagesOfAnotherOrigin(t *testing.T) {
	g := NewWithT(t)
	const page = "https://page.example"
	x := newServer(t, sidecar.Config{Token: "secret", Origins: []string{page}})
	ask := func(method, path string, header ...string) (status int, answered http.Header) {
		r, err := http.NewRequestWithContext(t.Context(), method, x.http.URL+path, http.NoBody)
		g.Expect(err).NotTo(HaveOccurred())
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultClient.Do(r)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		return answer.StatusCode, answer.Header
	}
	status, header := ask("OPTIONS", "/sessions", "Origin", page, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type")
	g.Expect(status).To(Equal(http.StatusNoContent))
	g.Expect(header.Get("Access-Control-Allow-Origin")).To(Equal(page))
	g.Expect(header.Get("Access-Control-Allow-Headers")).To(ContainSubstring("Authorization, Content-Type"))
	g.Expect(header.Get("Vary")).To(Equal("Origin"))
	for _, token := range []string{"secret", "wrong"} { // the page may read why it was refused
		_, header = ask("GET", "/sessions", "Authorization", "Bearer "+token, "Origin", page)
		g.Expect(header.Get("Access-Control-Allow-Origin")).To(Equal(page))
		g.Expect(header).NotTo(HaveKey("Access-Control-Allow-Credentials"))
	}
	status, header = ask("OPTIONS", "/sessions", "Origin", "https://attacker.example", "Access-Control-Request-Method", "POST")
	g.Expect(status).To(Equal(http.StatusForbidden))
	g.Expect(header).NotTo(HaveKey("Access-Control-Allow-Origin"))
	_, header = ask("GET", "/sessions", "Authorization", "Bearer secret")
	g.Expect(header).NotTo(HaveKey("Access-Control-Allow-Origin"))
}

func TestRefusals(t *testing.T) {
	x := newServer(t, sidecar.Config{MaxBody: 1000, MaxSessions: 2})
	x.open("s")
	for _, c := range []struct {
		request, body string
		status        int
		code          string
	}{
		{"POST /sessions", `{"session_id":`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"session_id":"a\nb"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"session_id":".."}`, 400, sidecar.CodeInvalid}, // no path of its routes reaches it
		{"POST /sessions", `{"session_id":"."}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"session_id":"b","runtime":"none"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"parms":{}}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"params":{"efort":"high"}}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"params":{"mcpServers":[{"nam":"x"}]}}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"params":{"command":["sh"]}}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"params":{"args":["--settings"]}}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"params":{"resume":"p"}}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"params":{"fork":true}}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"provider_session_id":"p","after":{"turn":-1},"params":{"fork":true}}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"provider_session_id":"p"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"params":{"unarchive":true}}`, 501, sidecar.CodeUnsupported},
		{"POST /sessions/s/message", `{"text":"1"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/s/message", `{"message":"1","runtime":"other"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/s/permission/p", `{"decide":"allow"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions", `{"session_id":"` + strings.Repeat("x", 2000) + `"}`, 413, sidecar.CodeTooLarge},
		{"POST /sessions/none/message", `{"message":"1"}`, 404, sidecar.CodeUnknownID},
		{"POST /sessions/s/message", `{}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/s/message", `{"message":"fail"}`, 422, sidecar.CodeRefused},
		{"POST /sessions/s/steer", `{"message":"1"}`, 501, sidecar.CodeUnsupported},
		{"POST /sessions/s/do", `{"do":"dance"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/s/do", `{"do":"withdraw"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/s/do", `{"do":"withdraw","message_id":1}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/s/do", `{"do":"withdraw","message_id":"m1"}`, 501, sidecar.CodeUnsupported},
		{"POST /sessions/s/do", `{"do":"steer","message_id":"m1"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/none/do", `{"do":"compact"}`, 404, sidecar.CodeUnknownID},
		{"POST /sessions/s/permission/p", `{"decision":"perhaps"}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/s/permission/p", `{"decision":"allow"}`, 404, sidecar.CodeUnknownID},
		{"POST /sessions/s/interrupt/p", `{}`, 400, sidecar.CodeInvalid},
		{"POST /sessions/none/resume", `{}`, 404, sidecar.CodeUnknownID},
		{"GET /sessions/none", ``, 404, sidecar.CodeUnknownID},
		{"GET /sessions/none/events", ``, 404, sidecar.CodeUnknownID},
		{"GET /sessions/s/events?after=x", ``, 400, sidecar.CodeInvalid},
		{"GET /sessions/s/events?after=-1", ``, 400, sidecar.CodeInvalid},
		{"GET /sessions/s/events?after=1000", ``, 409, sidecar.CodeUnknownCursor},
		{"GET /sessions/s/history?limit=0", ``, 400, sidecar.CodeInvalid},
	} {
		t.Run(c.request+" "+c.body[:min(len(c.body), 30)], func(t *testing.T) {
			g := NewWithT(t)
			method, path, _ := strings.Cut(c.request, " ")
			status, answer := x.call(method, path, c.body)
			g.Expect(status).To(Equal(c.status), "%v", answer)
			g.Expect(code(answer)).To(Equal(c.code))
		})
	}
	x.open("s2")
	status, answer := x.call("POST", "/sessions", `{"session_id":"s3"}`)
	g := NewWithT(t)
	g.Expect(status).To(Equal(503))
	g.Expect(code(answer)).To(Equal(sidecar.CodeTooMany))
}

// TestOptionsOverHTTP checks that params may hold each option of a session of Go that has a JSON
// form, above those of the server.
func TestOptionsOverHTTP(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{Base: adapters.Options{Opening: op.Opening{Instructions: "Be brief.", Model: "small", Args: []string{"--quiet"}}}})
	status, answer := x.call("POST", "/sessions", `{"session_id":"s","provider_session_id":"p","params":{"workingDir":"/work","permissionMode":"plan",
		"model":"large","effort":"high","max_requests":3,"max_cost":0.5,"extra_dirs":["/more"],"setting_sources":[],"instructions":"Be exact.",
		"replace_instructions":true,"fork":true,"at":"t2","checkpoints":true,"stream_tool_input":true,"schema":{"type":"object"}}}`)
	g.Expect(status).To(Equal(201), "%v", answer)
	got := x.adapter.opened[0]
	g.Expect(got.Opening).To(Equal(op.Opening{
		SessionID: "s", Resume: "p", Dir: "/work", Mode: adapters.ModePlan, Model: "large", Effort: "high", MaxRequests: 3, MaxCost: 0.5, ExtraDirs: []string{"/more"},
		SettingSources: []string{}, Instructions: "Be exact.", ReplaceInstructions: true, Fork: true, At: "t2", Checkpoints: true, StreamToolInput: true, Args: []string{"--quiet"},
	}))
	g.Expect(string(got.Schema)).To(Equal(`{"type":"object"}`))
	status, _ = x.call("POST", "/sessions", `{"session_id":"other"}`)
	g.Expect(status).To(Equal(201))
	g.Expect(x.adapter.opened[1].Opening).To(Equal(op.Opening{SessionID: "other", Instructions: "Be brief.", Model: "small", Args: []string{"--quiet"}}))
}

// TestPresets checks that the judge of the server and that of params.toolPreset both hold.
func TestPresets(t *testing.T) {
	g := NewWithT(t)
	deny := func(tool string) adapters.Judge {
		return func(_ context.Context, c adapters.Call) adapters.Verdict {
			if c.Tool == tool {
				return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "no " + tool}
			}
			return adapters.Verdict{Effect: adapters.EffectAllow}
		}
	}
	x := newServer(t, sidecar.Config{
		Base: adapters.Options{Judge: deny("Bash")}, Presets: map[string]adapters.Judge{"calm": deny("Write"), "full": nil},
	})
	allows := func(n int, tool string) bool {
		return x.adapter.opened[n].Judge.Decide(t.Context(), adapters.Call{Tool: tool}).Effect == adapters.EffectAllow
	}
	for i, c := range []struct {
		params string
		write  bool
	}{
		{`{}`, true}, {`{"toolPreset":"full"}`, true}, {`{"toolPreset":"calm"}`, false},
	} {
		status, answer := x.call("POST", "/sessions", fmt.Sprintf(`{"session_id":"s%d","params":%s}`, i, c.params))
		g.Expect(status).To(Equal(201), "%v", answer)
		g.Expect([]bool{allows(i, "Bash"), allows(i, "Write"), allows(i, "Read")}).To(Equal([]bool{false, c.write, true}), c.params)
	}
	status, answer := x.call("POST", "/sessions", `{"session_id":"other","params":{"toolPreset":"clam"}}`)
	g.Expect(status).To(Equal(400))
	g.Expect(fmt.Sprint(answer)).To(ContainSubstring("calm, full"))
}

// TestResumeOfASessionThatTheLogDoesNotHold checks that a client can go on with a session
// of the runtime that another program began.
func TestResumeOfASessionThatTheLogDoesNotHold(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	status, answer := x.call("POST", "/sessions/s/resume", `{"provider_session_id":"p-elsewhere","after":{"seq":9}}`)
	g.Expect(status).To(Equal(201), "%v", answer)
	g.Expect(x.adapter.opened[0].Resume).To(Equal("p-elsewhere"))
	g.Expect(x.listen("/sessions/s/events").until("session_ready")).To(HaveLen(1))
}

func TestOpenErrorHasItsCode(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.adapter.openErr = &adapters.OpenError{Code: event.ErrorStartFailure, Op: "start", Err: fmt.Errorf("no such file")}
	status, answer := x.call("POST", "/sessions", `{"session_id":"s"}`)
	g.Expect(status).To(Equal(502))
	g.Expect(code(answer)).To(Equal("start_failure"))
	x.adapter.openErr = nil
	x.open("s") // the id is free again
}

// TestEqualRequests checks that requests that are sent twice have one effect.
func TestEqualRequests(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	var wg sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		wg.Go(func() { statuses[i], _ = x.call("POST", "/sessions", `{"session_id":"s"}`) })
	}
	wg.Wait()
	g.Expect(statuses).To(ConsistOf(201, 200, 200, 200, 200, 200, 200, 200))
	g.Expect(x.adapter.opened).To(HaveLen(1))

	for i := range statuses {
		wg.Go(func() {
			statuses[i], _ = x.call("POST", "/sessions/s/message", `{"message":"3","message_id":"m1"}`)
		})
	}
	wg.Wait()
	g.Expect(statuses).To(ConsistOf(202, 200, 200, 200, 200, 200, 200, 200))
	frames := x.listen("/sessions/s/events").until("done")
	turns := 0
	for _, f := range frames {
		if f.name == "turn_start" {
			turns++
		}
	}
	g.Expect(turns).To(Equal(1))
}

func TestMessageWithoutIDDuringATurnIsRefused(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	status, _ := x.call("POST", "/sessions/s/message", `{"message":"wait"}`)
	g.Expect(status).To(Equal(202))
	status, answer := x.call("POST", "/sessions/s/message", `{"message":"wait"}`)
	g.Expect(status).To(Equal(409))
	g.Expect(code(answer)).To(Equal(sidecar.CodeBusy))
	l := x.listen("/sessions/s/events")
	l.until("tool_start")
	x.call("POST", "/sessions/s/stop", "")
	l.until("done")
	g.Eventually(func() any { _, run := x.call("GET", "/sessions/s", ""); return run["state"] }).WithTimeout(time.Minute).Should(Equal("completed"))
	status, _ = x.call("POST", "/sessions/s/message", `{"message":"1"}`)
	g.Expect(status).To(Equal(202))
}

func TestStaleHistoryIsRefused(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	l := x.listen("/sessions/s/events")
	ready := l.until("session_ready")
	x.call("POST", "/sessions/s/message", `{"message":"2","message_id":"m1"}`)
	done := l.until("done")
	status, answer := x.call("POST", "/sessions/s/message", `{"message":"2","message_id":"m2","seen":`+ready[0].id+`}`)
	g.Expect(status).To(Equal(409))
	g.Expect(code(answer)).To(Equal(sidecar.CodeStale))
	status, _ = x.call("POST", "/sessions/s/message", `{"message":"2","message_id":"m2","seen":`+done[len(done)-1].id+`}`)
	g.Expect(status).To(Equal(202))
}

func TestFailedMessageCanBeSentAgain(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	for range 2 {
		status, _ := x.call("POST", "/sessions/s/message", `{"message":"fail","message_id":"m"}`)
		g.Expect(status).To(Equal(422))
	}
	_, run := x.call("GET", "/sessions/s", "")
	g.Expect(run["state"]).To(Equal("pending"))
}

func TestShutdownSendsTheLastEvents(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	x.call("POST", "/sessions/s/message", `{"message":"wait"}`)
	l := x.listen("/sessions/s/events")
	l.until("tool_start")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	g.Expect(x.s.Shutdown(ctx)).To(Succeed())
	rest := l.until("")
	g.Expect(rest[len(rest)-1].name).To(Equal("session_end"))
	status, answer := x.call("POST", "/sessions", `{"session_id":"s2"}`)
	g.Expect(status).To(Equal(503))
	g.Expect(code(answer)).To(Equal(sidecar.CodeClosing))
}

// FuzzRequests checks that no request to a server with a session makes it panic or fail
// without a code, and that none gets in without the token.
func FuzzRequests(f *testing.F) {
	for _, seed := range []struct{ method, path, body, cursor string }{
		{"GET", "/", "", ""},
		{"GET", "/health", "", ""},
		{"GET", "/events", "", "x"},
		{"GET", "/sessions", "", ""},
		{"POST", "/sessions", `{"session_id":"x","params":{"limits":{"start_ms":-1},"mcpServers":[{}]}}`, ""},
		{"GET", "/sessions/s", "", ""},
		{"POST", "/sessions/s/resume", `{"provider_session_id":"p"}`, ""},
		{"GET", "/sessions/s/events?format=agui&after=-1", "", "3.1"},
		{"GET", "/sessions/s/history?limit=99999999999999999999", "", "1e3"},
		{"GET", "/sessions/%2e%2e/chat?messages=-1", "", ""},
		{"GET", "/sessions/s/chat?messages=2", "", ""},
		{"GET", "/sessions/s/lists/models", "", ""},
		{"GET", "/sessions/s/view?messages=0", "", ""},
		{"POST", "/sessions/s/message", `{"message":"3","message_id":"m","seen":-5,"attachments":[{}]}`, ""},
		{"POST", "/sessions/s/steer", `{"message":"3"}`, ""},
		{"POST", "/sessions/s/do", `{"do":"rewind","message_id":"m","dry":true}`, ""},
		{"POST", "/sessions/s/stop", "{", ""},
		{"POST", "/sessions/s/permission/p", `{"decision":"allow","input":{}}`, ""},
		{"POST", "/sessions/s/interrupt/i", `{"value":[]}`, ""},
		{"DELETE", "/sessions/s%00", "", "9223372036854775808"},
		{"DELETE", "/sessions/s", "", ""},
		{"PATCH", "/sessions/s", "", ""},
		{"GET", "/other", "", ""},
	} {
		f.Add(seed.method, seed.path, seed.body, seed.cursor)
	}
	f.Fuzz(func(t *testing.T, method, path, body, cursor string) {
		u, err := url.Parse(path)
		if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			return
		}
		s := sidecar.New(sidecar.Config{Log: &eventlog.Memory{}, Token: "secret", Adapters: map[string]adapters.Adapter{"scripted": &scripted{}}})
		answer := func(token string, within time.Duration, r *http.Request) *httptest.ResponseRecorder {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r.WithContext(ctx))
			return w
		}
		request := func() *http.Request {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/", strings.NewReader(body))
			r.Method, r.URL = method, u
			r.Header.Set("Last-Event-ID", cursor)
			return r
		}
		if w := answer("secret", time.Minute, httptest.NewRequest(http.MethodPost, "http://localhost/sessions", strings.NewReader(`{"session_id":"s"}`))); w.Code != http.StatusCreated {
			t.Fatalf("open: %d %s", w.Code, w.Body)
		}
		if w := answer("wrong", time.Minute, request()); w.Code != http.StatusUnauthorized && (u.Path != "/" || strings.Contains(w.Body.String(), "secret")) {
			t.Errorf("without the token: %s %s %q: %d %s", method, path, body, w.Code, w.Body)
		}
		w := answer("secret", 50*time.Millisecond, request()) // a stream ends with it
		if w.Code >= 500 && w.Code != http.StatusNotImplemented {
			t.Errorf("%s %s %q: %d %s", method, path, body, w.Code, w.Body)
		}
		var refused struct {
			Error struct {
				Code    string `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &refused); w.Code >= 400 && (err != nil || refused.Error.Code == "" || refused.Error.Message == "") {
			t.Errorf("%s %s %q: %d without a code and a message: %s", method, path, body, w.Code, w.Body)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
