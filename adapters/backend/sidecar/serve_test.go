package sidecar_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// served is a server that Serve serves.
type served struct {
	addr  string
	end   func()     // ends Serve
	ended chan error // of Serve
}

// serve serves a server with the token "secret".
func serve(t *testing.T, c sidecar.Config) *served {
	t.Helper()
	c.Token, c.Log, c.Adapters = "secret", &eventlog.Memory{}, map[string]adapters.Adapter{"scripted": &scripted{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &served{addr: l.Addr().String(), end: cancel, ended: make(chan error, 1)}
	go func() { x.ended <- sidecar.New(c).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		<-x.ended //nolint:errcheck // stop has judged it
	})
	return x
}

// stop ends the server and returns how long that takes.
func (x *served) stop(t *testing.T) time.Duration {
	t.Helper()
	start := time.Now()
	x.end()
	err := <-x.ended
	took := time.Since(start)
	x.ended <- err
	if err != nil {
		t.Errorf("Serve: %v", err)
	}
	return took
}

// connect opens a connection and writes text.
func (x *served) connect(t *testing.T, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", x.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// readStatus reads an answer and returns its status.
func readStatus(from *bufio.Reader) (int, error) {
	res, err := http.ReadResponse(from, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, errors.Join(err, res.Body.Close())
}

const (
	unfinished = "POST /sessions HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 100000\r\n\r\n{"
	withToken  = "Authorization: Bearer secret\r\n"
)

// drip sends a byte of a body every few milliseconds until the connection is closed.
func drip(conn net.Conn) <-chan struct{} {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for {
			if _, err := conn.Write([]byte(" ")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return closed
}

// TestSlowBodies sends bodies a byte at a time, with and without the token.
func TestSlowBodies(t *testing.T) {
	x := serve(t, sidecar.Config{BodyTimeout: 500 * time.Millisecond})
	for name, header := range map[string]string{"no token": "", "a token": withToken, "a foreign origin": "Origin: http://attacker.example\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var closed []<-chan struct{}
			for range 50 {
				closed = append(closed, drip(x.connect(t, fmt.Sprintf(unfinished, header))))
			}
			for _, c := range closed {
				NewWithT(t).Eventually(c).WithTimeout(30 * time.Second).Should(BeClosed())
			}
		})
	}
}

// TestBodyTimeoutLeavesStreams listens for longer than a body may take.
func TestBodyTimeoutLeavesStreams(t *testing.T) {
	g := NewWithT(t)
	x := serve(t, sidecar.Config{BodyTimeout: 100 * time.Millisecond, Heartbeat: 300 * time.Millisecond})
	send := func(method, path, body string) string {
		return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s", method, path, withToken, len(body), body)
	}
	conn := x.connect(t, send("POST", "/sessions", `{"session_id":"s"}`))
	lines := bufio.NewReader(conn)
	g.Expect(readStatus(lines)).To(Equal(http.StatusCreated))
	// The same connection, and a stream that is asked for with a body.
	_, err := io.WriteString(conn, send("GET", "/sessions/s/events", `{}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(conn.SetReadDeadline(time.Now().Add(time.Minute))).To(Succeed())
	for heartbeats := 0; heartbeats < 2; {
		line, err := lines.ReadString('\n')
		g.Expect(err).NotTo(HaveOccurred())
		if line[0] == ':' {
			heartbeats++
		}
	}
}

// TestShutdownDoesNotWaitForClients ends a server whose clients send half a request, read
// nothing of a stream, or hold a WebSocket.
func TestShutdownDoesNotWaitForClients(t *testing.T) {
	g := NewWithT(t)
	x := serve(t, sidecar.Config{})
	call := func(method, path, body string) {
		r, err := http.NewRequest(method, "http://"+x.addr+path, strings.NewReader(body))
		g.Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Authorization", "Bearer secret")
		res, err := http.DefaultClient.Do(r)
		g.Expect(err).NotTo(HaveOccurred())
		_ = res.Body.Close()
		g.Expect(res.StatusCode).To(BeNumerically("<", 300))
	}
	call("POST", "/sessions", `{"session_id":"s"}`)
	for range 20 {
		drip(x.connect(t, fmt.Sprintf(unfinished, withToken)))
		drip(x.connect(t, fmt.Sprintf(unfinished, "")))
		for _, upgrade := range []string{"", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"} {
			stream := x.connect(t, "GET /sessions/s/events HTTP/1.1\r\nHost: localhost\r\n"+withToken+upgrade+"\r\n")
			_, err := stream.Read(make([]byte, 1)) // it is open, and nothing more is read
			g.Expect(err).NotTo(HaveOccurred())
		}
		x.connect(t, "GET")
	}
	g.Expect(x.stop(t)).To(BeNumerically("<", 30*time.Second))
}

// TestUnauthorizedConnections opens more connections without a token than the server keeps.
func TestUnauthorizedConnections(t *testing.T) {
	g := NewWithT(t)
	x := serve(t, sidecar.Config{MaxUnauthorized: 10})
	authorized := x.connect(t, "")
	lines := bufio.NewReader(authorized)
	health := func() {
		_, err := io.WriteString(authorized, "GET /health HTTP/1.1\r\nHost: localhost\r\n"+withToken+"\r\n")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(readStatus(lines)).To(Equal(http.StatusOK))
	}
	health()
	first := x.connect(t, "GET /")
	for range 20 {
		x.connect(t, "GET /")
	}
	_, err := first.Read(make([]byte, 1))
	g.Expect(err).To(HaveOccurred()) // closed, long before the timeout of a header
	health()
	res, err := (&http.Client{Transport: &http.Transport{}}).Get((&url.URL{Scheme: "http", Host: x.addr, Path: "/"}).String())
	g.Expect(err).NotTo(HaveOccurred(), "a new client is served")
	g.Expect(res.StatusCode).To(Equal(http.StatusOK))
	_ = res.Body.Close()
}
