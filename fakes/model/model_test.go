package model

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/turnspec/turnspec/fixtures"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scenario makes a scenario of a client's part and of model parts.
func scenario(t *testing.T, client string, models ...string) *fixtures.Scenario {
	t.Helper()
	b := "A test.\n-- scenario --\ntopic: test\n-- client --\n" + client + "\n"
	var bSb26 strings.Builder
	for _, m := range models {
		if !strings.HasPrefix(m, "-- ") {
			bSb26.WriteString("-- model --\n")
		}
		bSb26.WriteString(m + "\n")
	}
	b += bSb26.String()
	s, err := fixtures.ParseScenario("test.txtar", "test/test", []byte(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start starts a model that ends with the test, and a separate transport.
func start(t *testing.T, s *fixtures.Scenario) (*Server, *http.Client) {
	t.Helper()
	m, err := Start(s, Options{Dir: "/ws"})
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, &http.Client{Transport: tr}
}

// post sends a request and returns the answer's status and body; err is how the body ended.
func post(t *testing.T, c *http.Client, url, body string, header ...string) (int, string, error) {
	t.Helper()
	resp, err := send(t.Context(), c, url, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func send(ctx context.Context, c *http.Client, url, body string, header ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return c.Do(r)
}

// users is a streamed Messages request with one user message for each text, and Bash.
func users(texts ...string) string {
	type msg struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var out struct {
		Stream   bool             `json:"stream"`
		Messages []msg            `json:"messages"`
		Tools    []jsontext.Value `json:"tools"`
	}
	out.Stream = true
	for _, x := range texts {
		out.Messages = append(out.Messages, msg{"user", x})
	}
	for _, n := range []string{"Bash", "Agent", "Read"} {
		out.Tools = append(out.Tools, jsontext.Value(`{"name":"`+n+`"}`))
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// until waits for a state of the model, without polling.
func until(t *testing.T, m *Server, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		changed := m.Changed()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("never: %s; witness %+v", what, m.Witness())
		}
	}
}

// brief writes a witness in a line per request.
func brief(rs []fixtures.Request) []string {
	var out []string
	for _, r := range rs {
		var said []string
		for _, s := range r.Output {
			said = append(said, s.Think+s.Text+s.Tool)
		}
		out = append(out, fmt.Sprintf("%d %s%v %q %s", r.Req, r.Agent, r.New, said, r.Ended))
	}
	return out
}

func TestRefusesOtherAddressesThanLoopback(t *testing.T) {
	g := NewWithT(t)
	s := scenario(t, "send m1: a", `[{"text":["b"]}]`)
	for _, addr := range []string{":0", "0.0.0.0:0", "192.0.2.1:0", "[::]:0", "example.com:0", "127.0.0.1"} {
		m, err := Start(s, Options{Addr: addr})
		g.Expect(err).To(HaveOccurred(), addr)
		g.Expect(m).To(BeNil())
	}
	m, err := Start(s, Options{Addr: "localhost:0"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.Close()).To(Succeed())
}

func TestHoldAndRelease(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi",
		`[{"think":["so"]},{"text":["a","b"]},{"hold":"h1"},{"text":["c"]},{"hold":"h2"},{"think":["d"]}]`))
	_, _, held := m.Holding("h1")
	g.Expect(held).To(BeFalse())
	m.Release("h2") // before it is reached

	resp, err := send(t.Context(), c, m.URL()+"/v1/messages", users("hi"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = resp.Body.Close() }()
	until(t, m, "hold h1", func() bool { _, _, ok := m.Holding("h1"); return ok })
	text, reasoning, _ := m.Holding("h1")
	g.Expect(text + "|" + reasoning).To(Equal("ab|so"))
	g.Expect(m.Witness()[0].Ended).To(BeEmpty())

	m.Release("h1")
	m.Release("h1") // once more does no harm
	body, err := io.ReadAll(resp.Body)
	g.Expect(err).NotTo(HaveOccurred())
	_, _, held = m.Holding("h1")
	g.Expect(held).To(BeFalse())
	// What follows a hold goes on in the same block; another kind begins a new one.
	g.Expect(strings.Count(string(body), "event: content_block_start")).To(Equal(3))
	g.Expect(brief(m.Witness())).To(Equal([]string{`1 [m1] ["so" "abc" "d"] complete`}))
}

func TestClientHangsUp(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi\nsend m2: again",
		`[{"text":["a"]},{"hold":"h1"},{"text":["never"]}]`))
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := send(ctx, c, m.URL()+"/v1/messages", users("hi"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = resp.Body.Close() }()
	until(t, m, "hold", func() bool { _, _, ok := m.Holding("h1"); return ok })
	cancel()
	until(t, m, "closed", func() bool { return m.Witness()[0].Ended == fixtures.EndedClosed })
	g.Expect(brief(m.Witness())).To(Equal([]string{`1 [m1] ["a"] closed`}))
	until(t, m, "hold left", func() bool { _, _, ok := m.Holding("h1"); return !ok })
	g.Expect(m.Err()).NotTo(HaveOccurred())
}

func TestStallLastsUntilTheClientHangsUp(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"text":["a"]},{"stall":true}]`))
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := send(ctx, c, m.URL()+"/v1/responses", `{"stream":true,"input":"hi"}`)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = resp.Body.Close() }()
	until(t, m, "said", func() bool { return len(m.Witness()[0].Output) == 1 || m.Witness()[0].Ended != "" })
	cancel()
	until(t, m, "closed", func() bool { return m.Witness()[0].Ended != "" })
	g.Expect(brief(m.Witness())).To(Equal([]string{`1 [m1] ["a"] closed`}))
}

func TestCutAndRetry(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi\nsend m2: two",
		`[{"text":["half"]},{"cut":true}]
[{"retry":true},{"text":["whole"]}]
[{"text":["cut again"]},{"cut":true}]
[{"text":["never"]}]
[{"retry":true},{"text":["belongs to the line above"]}]`))
	for _, texts := range [][]string{{"hi"}, {"hi"}, {"hi", "two"}, {"hi", "two"}} {
		_, body, err := post(t, c, m.URL()+"/v1/messages", users(texts...))
		if !strings.Contains(body, "whole") {
			g.Expect(err).To(MatchError(io.ErrUnexpectedEOF))
			g.Expect(body).NotTo(ContainSubstring("content_block_stop"), "a cut leaves the block open")
		}
	}
	g.Expect(brief(m.Witness())).To(Equal([]string{
		`1 [m1] ["half"] cut`, `2 [retry] ["whole"] complete`, `3 [m2] ["cut again"] cut`, `4 [retry] ["cut again"] cut`,
	}))
	g.Expect(m.Err()).NotTo(HaveOccurred())
}

func TestFail(t *testing.T) {
	for path, event := range map[string]string{"/v1/messages": "event: error", "/v1/responses": "event: response.failed"} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			m, c := start(t, scenario(t, "send m1: hi",
				`[{"fail":{"status":429,"body":{"error":{"type":"x"}},"headers":{"Retry-After":"7"}}}]
[{"retry":true},{"fail":{"status":529}}]
[{"retry":true},{"text":["a"]},{"fail":{"status":500}}]`))
			body := users("hi")
			if path == "/v1/responses" {
				body = `{"stream":true,"input":"hi"}`
			}
			resp, err := send(t.Context(), c, m.URL()+path, body)
			g.Expect(err).NotTo(HaveOccurred())
			b, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			g.Expect(resp.StatusCode).To(Equal(429))
			g.Expect(resp.Header.Get("Retry-After")).To(Equal("7"))
			g.Expect(string(b)).To(Equal(`{"error":{"type":"x"}}`))

			status, got, _ := post(t, c, m.URL()+path, body)
			g.Expect(status).To(Equal(529))
			g.Expect(got).To(ContainSubstring(`"scripted failure 529"`))

			status, got, _ = post(t, c, m.URL()+path, body)
			g.Expect(status).To(Equal(200))
			g.Expect(got).To(ContainSubstring(event))
			g.Expect(got).NotTo(ContainSubstring("response.completed"))

			w := m.Witness()
			g.Expect(brief(w)).To(Equal([]string{`1 [m1] [] failed`, `2 [retry] [] failed`, `3 [retry] ["a"] failed`}))
			g.Expect([]int{w[0].Status, w[1].Status, w[2].Status}).To(Equal([]int{429, 529, 0}))
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"no line":     {`[{"on":"m2"},{"text":["x"]}]`, `model: request 1 of the main agent brings [m1]; no reply left; the scenario has 2`},
		"no tool":     {`[{"tool":"search","id":"t1","input":{"pattern":"a"}}]`, `model: test.txtar:8: tool search "t1": the runtime does not offer Grep; offered are: Bash, Agent, Read`},
		"unknown key": {`[{"tool":"shell","id":"t1","input":{"cmd":"a"}}]`, `unknown object member name "cmd"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, hc := start(t, scenario(t, "send m1: hi\nsend m2: two", c.lines+"\n[{\"on\":\"m2\"},{\"text\":[\"y\"]}]"))
			changed := m.Changed()
			for range 2 { // a runtime that asks again is refused again
				status, body, _ := post(t, hc, m.URL()+"/v1/messages", users("hi"))
				g.Expect(status).To(Equal(400))
				g.Expect(body).To(ContainSubstring("invalid_request_error"))
			}
			g.Expect(m.Err()).To(MatchError(ContainSubstring(c.want)))
			g.Expect(changed).To(BeClosed())
			w := m.Witness()
			g.Expect(w).To(HaveLen(2))
			g.Expect(w[1].Status).To(Equal(400))
		})
	}
}

func TestOtherEndpoints(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"text":["x"]}]`))
	resp, err := c.Head(m.URL() + "/")
	g.Expect(err).NotTo(HaveOccurred())
	_ = resp.Body.Close()
	g.Expect(resp.StatusCode).To(Equal(200))
	_, body, _ := post(t, c, m.URL()+"/v1/messages/count_tokens?beta=true", `{}`)
	g.Expect(body).To(Equal(`{"input_tokens":100}`))
	status, _, _ := post(t, c, m.URL()+"/v1/telemetry", `{}`)
	g.Expect(status).To(Equal(404))
	g.Expect(m.Err()).NotTo(HaveOccurred(), "only a model request is a refusal")
	status, _, _ = post(t, c, m.URL()+"/v1/completions", `{}`)
	g.Expect(status).To(Equal(404))
	g.Expect(m.Err()).To(MatchError(ContainSubstring("/v1/completions is not served")))
	g.Expect(m.Witness()).To(BeEmpty())
}

func TestBrokenRequestIsRefused(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"text":["x"]}]`))
	status, _, _ := post(t, c, m.URL()+"/v1/messages", `{"messages":[`)
	g.Expect(status).To(Equal(400))
	g.Expect(m.Err()).To(MatchError(ContainSubstring("/v1/messages: ")))
}

func TestCloseEndsHangingRequests(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"text":["a"]},{"hold":"h1"}]`))
	resp, err := send(t.Context(), c, m.URL()+"/v1/messages", users("hi"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = resp.Body.Close() }()
	until(t, m, "hold", func() bool { _, _, ok := m.Holding("h1"); return ok })
	g.Expect(m.Close()).To(Succeed())
	g.Expect(m.Witness()[0].Ended).To(Equal(fixtures.EndedClosed))
	g.Expect(m.Close()).To(Succeed())
	_, err = send(t.Context(), c, m.URL()+"/v1/messages", users("hi")) //nolint:bodyclose // there is none
	g.Expect(err).To(HaveOccurred())
}
