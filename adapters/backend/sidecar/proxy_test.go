package sidecar_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// TestBehindTLS puts a proxy that encrypts before the server, as SERVE.md says: it keeps the Host, which the
// server is told, and does not buffer. A page of that origin sends a message and receives the events at once.
func TestBehindTLS(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{Token: "secret", Hosts: []string{"chat.example"}})
	target, err := url.Parse(x.http.URL)
	g.Expect(err).NotTo(HaveOccurred())
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}})
	t.Cleanup(proxy.Close)
	// ask returns the status of the answer and the first bytes of a stream.
	ask := func(method, path, host, origin string) (status int, begins string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, proxy.URL+path, http.NoBody)
		g.Expect(err).NotTo(HaveOccurred())
		r.Host = host
		r.Header.Set("Origin", origin)
		r.Header.Set("Authorization", "Bearer secret")
		res, err := proxy.Client().Do(r)
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = res.Body.Close() }()
		b := make([]byte, 64)
		n, err := res.Body.Read(b)
		g.Expect(err).To(Or(BeNil(), MatchError(io.EOF)))
		return res.StatusCode, string(b[:n])
	}
	for _, host := range []string{"chat.example", "other.example"} {
		status, _ := ask("POST", "/sessions/s/resume", host, "https://other.example")
		g.Expect(status).To(Equal(http.StatusForbidden), host)
	}
	x.call("POST", "/sessions", `{"session_id":"s"}`, "Authorization", "Bearer secret")
	status, begins := ask("GET", "/sessions/s/events", "chat.example", "https://chat.example")
	g.Expect(status).To(Equal(http.StatusOK))
	g.Expect(begins).NotTo(BeEmpty(), "the session runs on, so that a proxy that buffers sends nothing")
}
