package sse_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"

	"github.com/coder/websocket"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/plug/sse"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// overSocket returns one of servers as a subject whose messages are read over WebSocket.
func overSocket(t *testing.T, name, dialect string) *sse.Subject {
	t.Helper()
	s := inDialect(t, name, dialect)
	s.URL = "ws://127.0.0.1:0"
	return s
}

// TestReferenceOverSocket reads what the sidecar of this module sends in each dialect over WebSocket.
func TestReferenceOverSocket(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"wsmessages", "agentui", "agui", "uistream"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			all := claudeCases[:1] // the messages are those of TestReferenceInDialects
			switch {
			case name == "wsmessages" && racesample.Whole():
				all = claudeCases
			case name == "wsmessages":
				all = []string{"claude/newest/stop/mid-text", "claude/newest/session/resume-in-a-new-process"}
			case racesample.Whole():
				all = claudeCases[:3]
			}
			failed, passed := judged(t, overSocket(t, "served", name), noFaults, append(racesample.Sample(all, 3), "claude/newest/text/plain")...)
			g.Expect(failed).To(BeEmpty())
			for _, id := range append(mapping.Checks(), "text.once", "text.order", "turn.one-terminal", "server.resume", "server.cursor", "server.without-listeners", "process.sigterm") {
				g.Expect(passed).To(HaveKey(id), "it has given no verdict")
			}
			if name == "wsmessages" || name == "agentui" { // a socket of the others ends with its turn
				g.Expect(passed).To(HaveKey("server.heartbeat"))
			}
		})
	}
}

// sentOver is what a proxy does with the n-th message of a socket, of which those before the n-th were
// sent. It returns what it sends, and with which code it closes the socket after that: 0 is not at
// all, -1 without a close frame.
type sentOver func(n int, message string) (send []string, closeWith websocket.StatusCode)

// proxied serves next through a proxy, which changes the messages of sockets with a cursor that is not 0
// (returned) or of those with the cursor 0.
func proxied(returned bool, change sentOver) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		inner := sync.OnceValue(func() *httptest.Server { return httptest.NewServer(next) })
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Upgrade") == "" || (r.URL.Query().Get("after") != "0") != returned {
				next.ServeHTTP(w, r)
				return
			}
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			var to *websocket.Conn
			accepted := make(chan struct{})
			ping := func(context.Context, []byte) bool {
				go func() {
					select {
					case <-accepted:
						_ = to.Ping(ctx) // it fails if the listener has left
					case <-ctx.Done():
					}
				}()
				return true
			}
			from, _, err := websocket.Dial(ctx, inner().URL+r.URL.RequestURI(), &websocket.DialOptions{OnPingReceived: ping}) //nolint:bodyclose // Dial closes it
			if err != nil {
				w.WriteHeader(http.StatusConflict)
				return
			}
			defer func() { _ = from.CloseNow() }()
			if to, err = websocket.Accept(w, r, nil); err != nil {
				return
			}
			close(accepted)
			defer func() { _ = to.CloseNow() }()
			ctx = to.CloseRead(ctx)
			for n := 0; ; n++ {
				_, message, err := from.Read(ctx)
				if err != nil {
					_ = to.Close(max(websocket.CloseStatus(err), websocket.StatusNormalClosure), "")
					return
				}
				send, closeWith := change(n, string(message))
				for _, m := range send {
					if to.Write(ctx, websocket.MessageText, []byte(m)) != nil {
						return
					}
				}
				if closeWith > 0 {
					_ = to.Close(closeWith, "")
				}
				if closeWith != 0 {
					return
				}
			}
		})
	}
}

// at does something with the n-th message only.
func at(n int, do sentOver) sentOver {
	return func(i int, message string) ([]string, websocket.StatusCode) {
		if i == n {
			return do(i, message)
		}
		return []string{message}, 0
	}
}

func dropMessage(int, string) ([]string, websocket.StatusCode)       { return nil, 0 }
func doubleMessage(_ int, m string) ([]string, websocket.StatusCode) { return []string{m, m}, 0 }

func closeAfter(code websocket.StatusCode) sentOver {
	return func(_ int, m string) ([]string, websocket.StatusCode) { return []string{m}, code }
}

var cursorMember = regexp.MustCompile(`"cursor":"[^"]*",`)

// brokenSockets are the sidecar of this module with one defect each in what it sends over a WebSocket,
// the check that must fail with what it says, and those that may fail too. If a run does not end, others follow.
var brokenSockets = map[string]struct {
	wrap        func(http.Handler) http.Handler
	fails, says string
	too         []string
}{
	"drops a message":                    {proxied(false, at(1, dropMessage)), "text.once", "", []string{"dialect.form", "server.resume"}},
	"repeats a message":                  {proxied(false, at(1, doubleMessage)), "text.once", "", []string{"dialect.form", "server.resume"}},
	"breaks off in mid-turn":             {proxied(false, at(2, closeAfter(-1))), "session.returns", "broke off", nil},
	"ends in mid-turn":                   {proxied(false, at(2, closeAfter(websocket.StatusNormalClosure))), "session.returns", "closed with 1000", nil},
	"loses the message after a cursor":   {proxied(true, at(0, dropMessage)), "server.resume", "in its place", nil},
	"repeats the message after a cursor": {proxied(true, at(0, doubleMessage)), "server.resume", "in its place", nil},
	"has no cursors": {proxied(false, func(_ int, m string) ([]string, websocket.StatusCode) {
		return []string{cursorMember.ReplaceAllString(m, "")}, 0
	}), "server.resume", "no event has an id", nil},
	"begins again at an unknown message": {changeRequests(func(r *http.Request) {
		if q := r.URL.Query(); len(q.Get("after")) > 5 {
			q.Set("after", "0")
			r.URL.RawQuery = q.Encode()
		}
	}), "server.cursor", "is answered with 101", nil},
	"accepts no socket": {changeRequests(func(r *http.Request) { r.Header.Del("Upgrade") }), "session.returns", "want a WebSocket", nil},
	"closes each socket at once": {func(next http.Handler) http.Handler {
		nothing := at(0, func(int, string) ([]string, websocket.StatusCode) { return nil, websocket.StatusGoingAway })
		return proxied(true, nothing)(proxied(false, nothing)(next))
	}, "session.returns", "sockets in a row", nil},
}

// TestBrokenSocketsAreFound proves that the suite judges what it reads over WebSocket.
func TestBrokenSocketsAreFound(t *testing.T) {
	t.Parallel()
	for name, b := range brokenSockets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			failed, _ := judged(t, overSocket(t, name, "wsmessages"), noFaults, "claude/newest/tool/text-tool-text-three-rounds")
			g.Expect(failed).To(HaveKeyWithValue(b.fails, ContainElement(ContainSubstring(b.says))))
			if b.fails == "session.returns" {
				return
			}
			delete(failed, b.fails)
			for _, id := range b.too {
				delete(failed, id)
			}
			g.Expect(failed).To(BeEmpty(), "it has one defect")
		})
	}
}
