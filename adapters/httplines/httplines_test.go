package httplines_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/httplines"
)

// recorder keeps what is written through it.
type recorder struct {
	io.Writer
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	r.text.Write(b)
	r.mu.Unlock()
	return r.Writer.Write(b)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// connect joins a Transport and a Relay to a server by two pipes, and returns the lines of
// both sides.
func connect(t *testing.T, relay *httplines.Relay) (tr *httplines.Transport, in, out *recorder) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	in, out = &recorder{Writer: inW}, &recorder{Writer: outW}
	tr = httplines.NewTransport(func(b []byte) error { _, err := in.Write(b); return err })
	var running sync.WaitGroup
	running.Go(func() {
		if err := relay.Serve(context.Background(), inR, out); err != nil {
			t.Error(err)
		}
		_ = outW.Close()
	})
	running.Go(func() {
		if err := tr.Read(outR); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { _ = inW.Close(); running.Wait() })
	return tr, in, out
}

// write writes parts of a reply, each at once.
func write(w http.ResponseWriter, parts ...string) {
	for _, p := range parts {
		_, _ = io.WriteString(w, p)
		_ = http.NewResponseController(w).Flush()
	}
}

// hang blocks until the request is cancelled.
func hang(r *http.Request) { <-r.Context().Done() }

// post sends a request and returns its error.
func post(tr *httplines.Transport, body string) error {
	resp, err := (&http.Client{Transport: tr}).Post("http://lines/v1", "text/plain", strings.NewReader(body))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// behaviours are how a server may reply. events are what a client reads of a stream, if its
// bytes differ from those of the server.
var behaviours = map[string]struct {
	serve     http.HandlerFunc
	events    string
	cut       bool
	otherType bool // the content type is not that of the server
}{
	"json": {serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		write(w, `{"method":"`+r.Method+`","a":[1,2.50,"<&>"]}`)
	}},
	"text":      {serve: func(w http.ResponseWriter, _ *http.Request) { write(w, "plain\nwords") }},
	"no body":   {serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
	"not found": {serve: http.NotFound},
	"refused": {serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		write(w, `{"error":{"message":"slow down"}}`)
	}},
	"echo": {serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, r.Body)
	}},
	"events": {
		serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			write(w, "data: {\"a\":1}\n\n", ": ping\n\n", "event: weather\nid: 7\ndata: {\"b\":", "\ndata: 2}\n\n", "data: [DONE]\n\n")
		},
		events: "data: {\"a\":1}\n\n: ping\n\nevent: weather\ndata: {\"b\":2}\n\ndata: [DONE]\n\n",
	},
	"events with CRLF, the last without an end": {
		serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			write(w, "data:one\r\ndata: two\r\n\r\n", "data: {}")
		},
		events: "data: one\ndata: two\n\ndata: {}\n\n",
	},
	"events with another content type": {
		serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			write(w, "data: {\"a\":1}\n\n", "data: [DONE]\n\n")
		},
		events: "data: {\"a\":1}\n\ndata: [DONE]\n\n", otherType: true,
	},
	"a stream that is cut": {
		serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			write(w, "data: {\"a\":1}\n\n", "data: {\"b")
			panic(http.ErrAbortHandler)
		},
		events: "data: {\"a\":1}\n\n", cut: true,
	},
}

// TestRepliesAreThoseOfTheServer compares what a client gets over lines with what it gets
// over HTTP.
func TestRepliesAreThoseOfTheServer(t *testing.T) {
	for name, b := range behaviours {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			server := httptest.NewServer(b.serve)
			defer server.Close()
			tr, _, _ := connect(t, &httplines.Relay{Base: server.URL + "/"})
			type head struct {
				status                  int
				retryAfter, contentType string
			}
			get := func(client *http.Client, base string) (head, string, error) {
				resp, err := client.Post(base+"/v1/x?y=z", "application/json", strings.NewReader(`{"q": "é<"}`))
				g.Expect(err).NotTo(gomega.HaveOccurred())
				body, err := io.ReadAll(resp.Body)
				g.Expect(resp.Body.Close()).To(gomega.Succeed())
				return head{resp.StatusCode, resp.Header.Get("Retry-After"), resp.Header.Get("Content-Type")}, string(body), err
			}
			want, wantBody, _ := get(http.DefaultClient, server.URL)
			got, gotBody, err := get(&http.Client{Transport: tr}, "http://lines")
			g.Expect(got.status).To(gomega.Equal(want.status))
			g.Expect(got.retryAfter).To(gomega.Equal(want.retryAfter))
			if b.otherType {
				got.contentType, want.contentType = "", ""
			}
			if b.cut {
				g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("unexpected EOF")))
			} else {
				g.Expect(err).NotTo(gomega.HaveOccurred())
			}
			if b.events != "" {
				g.Expect(gotBody).To(gomega.Equal(b.events))
				return
			}
			g.Expect(strings.ReplaceAll(gotBody, " ", "")).To(gomega.Equal(strings.ReplaceAll(wantBody, " ", "")))
			if want.contentType != "" {
				g.Expect(got.contentType).To(gomega.Equal(want.contentType))
			}
		})
	}
}

// TestNoConnection: the error names neither address nor port, which change.
func TestNoConnection(t *testing.T) {
	g := gomega.NewWithT(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	tr, _, out := connect(t, &httplines.Relay{Base: server.URL})
	g.Expect(post(tr, "")).To(gomega.MatchError(gomega.ContainSubstring("connection refused")))
	g.Expect(out.String()).To(gomega.Equal(`{"id":1,"error":"connection refused"}` + "\n"))
}

func TestCredentialsStayOffTheLines(t *testing.T) {
	g := gomega.NewWithT(t)
	got := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "CANARY-cookie"})
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	tr, in, out := connect(t, &httplines.Relay{Base: server.URL, Header: http.Header{"Authorization": {"Bearer CANARY-real"}}})
	tr.Headers = []string{"authorization", "Cookie", "x-api-key", "X-Folder"}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://user:CANARY-url@lines/v1", http.NoBody)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "X-Unlisted"} {
		req.Header.Set(name, "CANARY-"+name)
	}
	req.Header.Set("X-Folder", "/work")
	resp, err := tr.RoundTrip(req)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(resp.Body.Close()).To(gomega.Succeed())
	h := <-got
	g.Expect(h.Get("X-Folder")).To(gomega.Equal("/work"))
	g.Expect(h.Get("Authorization")).To(gomega.Equal("Bearer CANARY-real"))
	g.Expect(h.Get("X-Unlisted")).To(gomega.BeEmpty())
	g.Expect(in.String() + out.String()).NotTo(gomega.ContainSubstring("CANARY"))
	g.Expect(in.String()).To(gomega.Equal(`{"id":1,"method":"DELETE","path":"/v1","headers":{"X-Folder":"/work"}}` + "\n"))
}

// TestCancelledRequestsReachTheServer cancels before the status, in a stream by the context,
// and in a stream by closing its body.
func TestCancelledRequestsReachTheServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream bool
		cancel func(cancel context.CancelFunc, body io.Closer)
	}{
		{"before the status", false, func(cancel context.CancelFunc, _ io.Closer) { cancel() }},
		{"in a stream", true, func(cancel context.CancelFunc, _ io.Closer) { cancel() }},
		{"by closing the body", true, func(_ context.CancelFunc, body io.Closer) { _ = body.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			arrived, gone := make(chan bool), make(chan bool)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.stream {
					w.Header().Set("Content-Type", "text/event-stream")
					write(w, "data: 1\n\n")
				}
				close(arrived)
				hang(r)
				close(gone)
			}))
			defer server.Close()
			tr, in, _ := connect(t, &httplines.Relay{Base: server.URL})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://lines/v1", http.NoBody)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			if !c.stream {
				go func() { <-arrived; cancel() }()
				_, err := tr.RoundTrip(req) //nolint:bodyclose // there is none
				g.Expect(err).To(gomega.MatchError(context.Canceled))
			} else {
				resp, err := tr.RoundTrip(req)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				l, err := bufio.NewReader(resp.Body).ReadString('\n')
				g.Expect(l, err).To(gomega.Equal("data: 1\n"))
				c.cancel(cancel, resp.Body)
				_, err = io.Copy(io.Discard, resp.Body)
				g.Expect(err).To(gomega.HaveOccurred())
				g.Expect(resp.Body.Close()).To(gomega.Succeed())
			}
			g.Eventually(gone, time.Minute).Should(gomega.BeClosed())
			g.Expect(in.String()).To(gomega.HaveSuffix(`{"id":1,"abort":true}` + "\n"))
			g.Expect(strings.Count(in.String(), "abort")).To(gomega.Equal(1))
		})
	}
}

// TestRelayRefusesLines: the relay replies to a line that is no request, and goes on.
func TestRelayRefusesLines(t *testing.T) {
	g := gomega.NewWithT(t)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for in, want := range map[string]string{
		"rain":                            "not a line of HTTP",
		`{"id":1,"method":7,"path":"/"}`:  `{"id":1,"error":"not a line of HTTP`,
		`{"method":"GET","path":"/"}`:     "not a positive number",
		`{"id":1,"path":"@example.org/"}`: `{"id":1,"error":"not a line of HTTP: the path must begin with a slash"}`,
		`{"id":1,"method":"a b"}`:         `{"id":1,"error":`,
		`{"id":9,"abort":true}`:           "",
	} {
		var out bytes.Buffer
		text := in + "\n\n" + `{"id":2,"path":"/"}` + "\n"
		r, w := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- (&httplines.Relay{Base: server.URL}).Serve(t.Context(), r, &until{&out, []string{`"id":2,"status":404`, want}, w})
		}()
		_, err := io.WriteString(w, text)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(<-done).To(gomega.Succeed())
		g.Expect(out.String()).To(gomega.ContainSubstring(want), in)
		g.Expect(strings.Count(out.String(), "error")).To(gomega.Equal(map[bool]int{true: 1}[want != ""]), in)
	}
}

// until closes an input when each of some texts has been written, in any order.
type until struct {
	io.Writer
	texts []string
	in    io.Closer
}

func (u *until) Write(b []byte) (int, error) {
	u.texts = slices.DeleteFunc(u.texts, func(text string) bool { return strings.Contains(string(b), text) })
	if len(u.texts) == 0 {
		defer func() { _ = u.in.Close() }()
	}
	return u.Writer.Write(b)
}

// TestWriteFails: a request that cannot be written fails, and so does one after Close.
func TestWriteFails(t *testing.T) {
	g := gomega.NewWithT(t)
	broken := errors.New("broken pipe")
	tr := httplines.NewTransport(func([]byte) error { return broken })
	g.Expect(post(tr, "")).To(gomega.MatchError(broken))
	tr.Close(io.ErrUnexpectedEOF)
	g.Expect(post(tr, "")).To(gomega.MatchError(io.ErrUnexpectedEOF))
	g.Expect(post(tr, "\xff\xfe")).To(gomega.MatchError(gomega.ContainSubstring("not text")))
}
