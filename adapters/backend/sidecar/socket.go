package sidecar

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// socketFormat is the dialect of a WebSocket whose address names none.
const socketFormat = "wsmessages"

// wantsSocket reports whether a request asks for a WebSocket.
func wantsSocket(r *http.Request) bool {
	for value := range strings.SplitSeq(strings.Join(r.Header.Values("Upgrade"), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(value), "websocket") {
			return true
		}
	}
	return false
}

// socket is the WebSocket of a listener.
type socket struct {
	conn    *websocket.Conn
	ctx     context.Context // done when the listener leaves
	wrote   atomic.Bool     // the listener sent a message, which ends the socket
	pending [][]byte        // messages that flush writes
	code    websocket.StatusCode
	reason  string
}

// add adds a message to what flush writes. Its cursor is a member of it.
func (k *socket) add(seq int64, n int, line []byte) {
	message := []byte(`{"cursor":"` + strconv.FormatInt(seq, 10) + "." + strconv.Itoa(n) + `",`)
	k.pending = append(k.pending, append(message, line[1:]...)) // a message has a type, so it is not empty
}

// end says why the server closes the socket: a client that is told 1000 does not come back.
func (k *socket) end(code websocket.StatusCode, reason string) { k.code, k.reason = code, reason }

// flush writes what was added. It fails if the listener does not take it in time.
func (k *socket) flush(timeout time.Duration) error {
	for _, message := range k.pending {
		ctx, cancel := context.WithTimeout(k.ctx, timeout)
		err := k.conn.Write(ctx, websocket.MessageText, message)
		cancel()
		if err != nil {
			return err
		}
	}
	k.pending = k.pending[:0]
	return nil
}

// read handles pings and the end of the socket. A listener must not send messages. (CloseRead
// of the library waits for itself for 15 s if one does.)
func (k *socket) read(left func()) {
	defer left()
	_, _, err := k.conn.Reader(k.ctx)
	k.wrote.Store(err == nil)
}

// close closes the socket, unless the listener has.
func (k *socket) close() {
	switch {
	case k.wrote.Load():
		_ = k.conn.Close(websocket.StatusPolicyViolation, "send messages to the routes of the session")
	case k.ctx.Err() != nil:
		_ = k.conn.CloseNow() // a handshake would wait for an answer
	default:
		_ = k.conn.Close(k.code, k.reason)
	}
}

// heartbeat sends a ping, and waits for its answer.
func (k *socket) heartbeat(timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(k.ctx, timeout)
	defer cancel()
	return k.conn.Ping(ctx)
}

// nothingMore is the reason of the end of a socket that has had all messages.
const nothingMore = "there is nothing more"

// sendOverSocket sends the messages of a session in a dialect over a WebSocket, as sendEvents
// does. If none is true, there are none for the listener.
func (s *Server) sendOverSocket(w http.ResponseWriter, r *http.Request, f *format, h *hosted, id string, after, last int64, none bool) error {
	release, err := s.addStream()
	if err != nil {
		return err
	}
	defer release()
	// The guard has judged the Origin: it also knows Config.Origins.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // Accept has answered
	}
	ctx, left := context.WithCancel(r.Context())
	defer left()
	k := &socket{conn: conn, ctx: ctx, code: websocket.StatusGoingAway, reason: "connect again with the last cursor"}
	defer k.close()
	go k.read(left)
	if none {
		k.end(websocket.StatusNormalClosure, nothingMore)
		return nil
	}
	s.sendEvents(k.ctx, &stream{timeout: s.c.WriteTimeout, format: f, socket: k}, h, id, after, last)
	return nil
}
