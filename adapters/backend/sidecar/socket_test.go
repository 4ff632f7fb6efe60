package sidecar_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// socket is a listener over a WebSocket.
type socket struct {
	t     *testing.T
	conn  *websocket.Conn
	pings atomic.Int64
}

// dial opens a WebSocket. If the server refuses it, the status says how.
func (x *server) dial(path string, header ...string) (k *socket, status int) {
	x.t.Helper()
	k = &socket{t: x.t}
	o := &websocket.DialOptions{HTTPHeader: http.Header{}, OnPingReceived: func(context.Context, []byte) bool { k.pings.Add(1); return true }}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			o.Host = header[i+1]
		}
		o.HTTPHeader.Set(header[i], header[i+1])
	}
	conn, response, err := websocket.Dial(x.t.Context(), x.http.URL+path, o) //nolint:bodyclose // Dial closes it
	if response == nil {
		x.t.Fatal(err)
	}
	if err != nil {
		return nil, response.StatusCode
	}
	x.t.Cleanup(func() { _ = conn.CloseNow() })
	k.conn = conn
	return k, response.StatusCode
}

// next returns the next message without its cursor, and how the server closed the socket if there is
// none.
func (k *socket) next() (f frame, closed websocket.StatusCode) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), 30*time.Second)
	defer cancel()
	_, b, err := k.conn.Read(ctx)
	if end, is := errors.AsType[websocket.CloseError](err); is {
		return frame{}, end.Code
	}
	if err != nil {
		k.t.Fatal(err)
	}
	var head struct {
		Cursor string `json:"cursor"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		k.t.Fatalf("%s: %v", b, err)
	}
	return frame{id: head.Cursor, data: strings.Replace(string(b), `"cursor":"`+head.Cursor+`",`, "", 1)}, 0
}

// all returns the messages up to the end.
func (k *socket) all() (out []frame, closed websocket.StatusCode) {
	k.t.Helper()
	for {
		f, closed := k.next()
		if closed != 0 {
			return out, closed
		}
		out = append(out, f)
	}
}

// TestSocketResumes reads a stored session over a WebSocket in each dialect, in one piece and again
// after each message.
func TestSocketResumes(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	for _, text := range []string{"3", "0", "2"} {
		x.call("POST", "/sessions/s/message", `{"message":"`+text+`"}`)
		x.listen("/sessions/s/events").until("done")
		g.Eventually(func() any { _, run := x.call("GET", "/sessions/s", ""); return run["state"] }).Should(Equal("completed"))
	}
	x.call("DELETE", "/sessions/s", "")
	for _, name := range dialects.Names() {
		d, _ := dialects.Of(name)
		want, format := messagesOf(t, x.log, d), "&format="+name
		if name == "wsmessages" {
			format = "" // it is that of a socket without one
		}
		for i := range want {
			cursor := "0"
			if i > 0 {
				cursor = want[i-1].id
			}
			var got []frame
			for len(got) < len(want)-i { // a dialect may end a socket with the turn
				k, _ := x.dial("/sessions/s/events?after=" + cursor + format)
				more, closed := k.all()
				g.Expect(closed).To(Equal(websocket.StatusNormalClosure))
				g.Expect(more).NotTo(BeEmpty(), name)
				got = append(got, more...)
				cursor = got[len(got)-1].id
			}
			g.Expect(got).To(Equal(want[i:]), "%s after message %d", name, i)
		}
	}
	k, _ := x.dial("/sessions/s/events?after=" + lastID(t, x))
	none, closed := k.all()
	g.Expect(none).To(BeEmpty(), "the listener has all of it")
	g.Expect(closed).To(Equal(websocket.StatusNormalClosure))
}

// lastID returns the cursor of the last event.
func lastID(t *testing.T, x *server) string {
	t.Helper()
	frames := x.listen("/sessions/s/events", "Last-Event-ID", "0").until("session_end")
	return frames[len(frames)-1].id
}

// TestSocketIsLive attaches a listener to a session that runs, which is pinged while nothing happens.
func TestSocketIsLive(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{Heartbeat: 5 * time.Millisecond, MaxListeners: 1})
	x.open("s")
	k, status := x.dial("/sessions/s/events")
	g.Expect(status).To(Equal(http.StatusSwitchingProtocols))
	_, status = x.dial("/sessions/s/events")
	g.Expect(status).To(Equal(http.StatusServiceUnavailable), "it counts as a listener")
	x.call("POST", "/sessions/s/message", `{"message":"wait"}`)
	first, _ := k.next()
	g.Expect(first.data).To(Equal(`{"type":"text_delta","responseId":"s/1","delta":"I wait."}`))
	rest := make(chan []frame, 1)
	go func() {
		got, closed := k.all()
		if closed != websocket.StatusNormalClosure {
			t.Errorf("closed with %v", closed)
		}
		rest <- got
	}()
	g.Eventually(k.pings.Load).Should(BeNumerically(">", 2))
	x.call("POST", "/sessions/s/stop", "")
	x.call("DELETE", "/sessions/s", "")
	all := <-rest
	g.Expect(all[len(all)-1].data).To(HavePrefix(`{"type":"output_cancelled"`))
}

// TestSocketThatLeaves frees the place of a listener that leaves, and closes one that writes.
func TestSocketThatLeaves(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{MaxListeners: 1})
	x.open("s")
	k, _ := x.dial("/sessions/s/events")
	g.Expect(k.conn.CloseNow()).To(Succeed())
	again := func() int { return statusOf(x.dial("/sessions/s/events")) }
	g.Eventually(again).Should(Equal(http.StatusSwitchingProtocols))

	x = newServer(t, sidecar.Config{})
	x.open("s")
	k, _ = x.dial("/sessions/s/events")
	g.Expect(k.conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"text_input"}`))).To(Succeed())
	_, closed := k.next()
	g.Expect(closed).To(Equal(websocket.StatusPolicyViolation), "messages are sent to the routes")
}

// statusOf returns the status of a socket that was dialled, after it is closed.
func statusOf(k *socket, status int) int {
	if k != nil {
		_ = k.conn.CloseNow()
	}
	return status
}

// TestSocketGuard checks that a WebSocket is refused as any other request is, before it is one.
func TestSocketGuard(t *testing.T) {
	t.Parallel()
	x := newServer(t, sidecar.Config{Token: "secret", Hosts: []string{"chat.example"}, Origins: []string{"https://page.example"}})
	const bearer = "Bearer secret"
	x.call("POST", "/sessions", `{"session_id":"s"}`, "Authorization", bearer)
	for _, c := range []struct {
		name, path string
		header     []string
		status     int
	}{
		{"no token", "", nil, 401},
		{"a wrong token", "", []string{"Authorization", "Bearer secre"}, 401},
		{"the token in the query", "?token=secret", nil, 401},
		{"the token", "", []string{"Authorization", bearer}, 101},
		{"the token in the cookie", "", []string{"Cookie", "turnspec_token=secret"}, 101},
		{"a rebound name", "", []string{"Authorization", bearer, "Host", "attacker.example"}, 403},
		{"an allowed name", "", []string{"Authorization", bearer, "Host", "chat.example:80"}, 101},
		{"a foreign origin with the cookie", "", []string{"Cookie", "turnspec_token=secret", "Origin", "http://attacker.example"}, 403},
		{"the origin null", "", []string{"Authorization", bearer, "Origin", "null"}, 403},
		{"an allowed origin", "", []string{"Authorization", bearer, "Origin", "https://page.example"}, 101},
		{"its own origin", "", []string{"Authorization", bearer, "Origin", x.http.URL}, 101},
		{"no such format", "?format=html", []string{"Authorization", bearer}, 400},
		{"a cursor of another form", "?after=x", []string{"Authorization", bearer}, 400},
		{"a cursor beyond the end", "?after=999", []string{"Authorization", bearer}, 409},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, status := x.dial("/sessions/s/events"+c.path, c.header...)
			if statusOf(k, status) != c.status {
				t.Errorf("got %d, want %d", status, c.status)
			}
		})
	}
	if _, status := x.dial("/sessions/none/events", "Authorization", bearer); status != 404 {
		t.Errorf("no such session: got %d", status)
	}
}
