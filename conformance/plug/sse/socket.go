package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance/plug"
)

// OverSocket reports whether the streams of the server are read over WebSocket, because its
// address begins with ws:// or wss://.
func (s *Subject) OverSocket() bool { return strings.HasPrefix(s.URL, "ws") }

// maxEmptySockets is how often in a row a server may close a socket with "connect again" that
// had no message.
const maxEmptySockets = 20

// dial opens the WebSocket of the session, after the message with a cursor if it is not "". If the server refuses
// it, the status says how.
func (x *session) dial(ctx context.Context, after string, pinged func()) (conn *websocket.Conn, status int, err error) {
	path := x.path("events") + "?format=" + url.QueryEscape(x.foreign.Mapping.Name)
	if after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	o := &websocket.DialOptions{HTTPClient: x.http, OnPingReceived: func(context.Context, []byte) bool {
		pinged()
		return true
	}}
	conn, resp, err := websocket.Dial(ctx, x.base+path, o)
	if resp != nil {
		status = resp.StatusCode
		if err != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
	}
	if err != nil {
		return nil, status, err
	}
	conn.SetReadLimit(plug.MaxLine)
	return conn, status, nil
}

// checkSocket returns what is wrong with the answer to a request for a WebSocket.
func (x *session) checkSocket(status int, err error) *plug.Error {
	return plug.Errorf("GET %s: want a WebSocket (status 101), got %d: %v", x.path("events"), status, err).
		Advise("accept the WebSocket at this route if the request has Upgrade: websocket, or give the address with http:// if the streams are server-sent events")
}

// cursorOf returns the cursor of a message of a WebSocket, or "".
func cursorOf(message []byte) string {
	var head struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(message, &head, plug.Lenient) // handleForeign reports what is no JSON
	return head.Cursor
}

// withoutCursor returns a message of a WebSocket as the vocabulary has it: the cursor is a member of the route.
func withoutCursor(message []byte) string {
	var all struct {
		Cursor  jsontext.Value `json:"cursor"`
		Members jsontext.Value `json:",embed"`
	}
	if json.Unmarshal(message, &all, plug.Lenient) != nil || all.Members == nil {
		return string(message)
	}
	return string(all.Members)
}

// readSocket reads a WebSocket to its end. It returns an error if no other one can follow.
func (x *session) readSocket(ctx context.Context) error {
	f := x.foreign
	x.s.Show(true, "WebSocket after "+f.last)
	conn, status, err := x.dial(ctx, f.last, func() { x.comments.Add(1) })
	if err != nil {
		if ctx.Err() == nil && status != 0 && f.last == "0" { // else the server may be about to end
			e := x.checkSocket(status, err)
			_ = x.Fail(e)
			return e
		}
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	x.setSocketOpen(true)
	defer x.setSocketOpen(false)
	read, inTurn := 0, false
	for {
		_, message, err := conn.Read(ctx)
		if err != nil {
			return x.afterSocket(ctx, err, read, inTurn)
		}
		read++
		f.empty = 0
		cursor := cursorOf(message)
		f.last = cursor
		x.addFrame(eventFrame{id: cursor, typ: "message", data: string(message)})
		x.s.Show(false, "message "+string(message))
		if mistake := x.handleForeign(withoutCursor(message)); mistake != nil {
			_ = x.Fail(mistake)
			return mistake
		}
		x.Mu.Lock()
		inTurn = x.Running
		x.Mu.Unlock()
	}
}

func (x *session) setSocketOpen(is bool) {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.foreign.socketOpen = is
}

// addFrame keeps a message for comparison with those of the listener that returns, which begins
// after the first one.
func (x *session) addFrame(f eventFrame) {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.frames = append(x.frames, f)
	if x.returning == nil && f.id != "" && x.health.Require(plug.CanCursor) == nil {
		x.returning = x.returnAfter(x.returningContext, f.id)
	}
}

// afterSocket judges the end of a socket that had so many messages, the last of which left a turn
// running or did not. It returns an error if no other socket can follow.
func (x *session) afterSocket(ctx context.Context, end error, read int, inTurn bool) error {
	x.Mu.Lock()
	closing := x.Closing
	x.Mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch code := websocket.CloseStatus(end); {
	case code == websocket.StatusNormalClosure && inTurn && !closing:
		return x.Fail(plug.Errorf("the WebSocket was closed with 1000, after which nothing comes, while a turn ran").
			Advise("close it with 1000 when the session, or the turn if a stream is a turn, has ended; with 1001 if the client has to connect again"))
	case code == websocket.StatusNormalClosure && x.foreign.last == "": // it would begin again
		return x.afterStream(ctx, 0)
	case code == websocket.StatusNormalClosure:
		return x.afterStream(ctx, read)
	case code == websocket.StatusGoingAway || code == websocket.StatusTryAgainLater || code == websocket.StatusServiceRestart:
		if x.foreign.empty++; x.foreign.empty <= maxEmptySockets {
			return sleep(ctx, retryTime)
		}
		return x.Fail(plug.Errorf("%d sockets in a row were closed with %d and had no message", maxEmptySockets, code).
			Advise("keep the socket open until the session has ended"))
	case closing:
		return end
	case x.hasEnded():
		return end
	}
	return x.Fail(plug.Errorf("the WebSocket broke off (%v) after %d messages", end, read).
		Advise("close it with a code: 1000 if nothing more comes, 1001 if the client has to connect again with its last cursor"))
}

// sleep waits, unless ctx ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// staySocket receives messages after one, at most n, as stay does.
func (r *returning) staySocket(ctx context.Context, id string, n int) (last string, more bool) {
	x := r.x
	conn, status, err := x.dial(ctx, id, func() {})
	if err != nil {
		if status != 0 && ctx.Err() == nil && !x.isClosing() {
			r.setProblem(fmt.Sprintf("a listener that returned with after=%s was answered with %d", id, status))
		}
		return id, false
	}
	defer func() { _ = conn.CloseNow() }()
	for read := 0; ; {
		closing := x.isClosing() // before the read: a message may come while the session is closed
		_, message, err := conn.Read(ctx)
		switch {
		case websocket.CloseStatus(err) == websocket.StatusNormalClosure && read == 0:
			return id, !closing && sleep(ctx, retryTime) == nil
		case websocket.CloseStatus(err) >= 0:
			return id, true
		case err != nil:
			return id, false
		}
		read++
		cursor := cursorOf(message)
		r.mu.Lock()
		r.frames = append(r.frames, eventFrame{id: cursor, typ: "message", data: string(message)})
		r.mu.Unlock()
		if cursor == "" {
			return id, false // the comparison reports it
		}
		if id = cursor; read == n {
			return id, true
		}
	}
}

func (x *session) isClosing() bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return x.Closing || x.ended
}

// probeSocketCursor asks for the messages after one that does not exist.
func (x *session) probeSocketCursor(ctx context.Context, last string) {
	cursor := last + "-unknown"
	seq, rest, _ := strings.Cut(last, ".")
	if n, err := strconv.ParseInt(seq, 10, 64); err == nil {
		cursor = strings.TrimSuffix(strconv.FormatInt(n+1000, 10)+"."+rest, ".")
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	conn, status, err := x.dial(ctx, cursor, func() {})
	switch {
	case err == nil:
		_ = conn.CloseNow()
	case status == 0, errors.Is(err, context.Canceled):
		return
	}
	x.probes.assert(probeCursor, status >= http.StatusBadRequest && status < http.StatusInternalServerError,
		"a WebSocket with after=%s, which the session does not have, is answered with %d; the last message was %s", cursor, status, last)
}
