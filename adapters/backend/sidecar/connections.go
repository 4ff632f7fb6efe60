package sidecar

import (
	"container/list"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections is a listener that knows its open connections, and which of them have not
// presented the token.
type connections struct {
	net.Listener
	max int // of those without a token

	mu           sync.Mutex
	open         map[*connection]bool
	unauthorized *list.List // of *connection, the oldest first
}

type connection struct {
	net.Conn
	of    *connections
	place *list.Element // in of.unauthorized, or nil
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

func newConnections(l net.Listener, most int) *connections {
	return &connections{Listener: l, max: most, open: map[*connection]bool{}, unauthorized: list.New()}
}

// Accept implements net.Listener. If too many connections have not presented the token, it
// closes the oldest of them, so that slow clients do not keep others out.
func (x *connections) Accept() (net.Conn, error) {
	conn, err := x.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, of: x}
	x.mu.Lock()
	x.open[c] = true
	c.place = x.unauthorized.PushBack(c)
	var oldest *connection
	if x.unauthorized.Len() > x.max {
		oldest = x.unauthorized.Front().Value.(*connection)
	}
	x.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return c, nil
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.leaveUnauthorized()
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// leaveUnauthorized removes the connection from those without a token. The caller holds of.mu.
func (c *connection) leaveUnauthorized() {
	if c.place != nil {
		c.of.unauthorized.Remove(c.place)
		c.place = nil
	}
}

// closeConnections closes the connections that are open.
func (x *connections) closeConnections() {
	x.mu.Lock()
	all := make([]*connection, 0, len(x.open))
	for c := range x.open {
		all = append(all, c)
	}
	x.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// authorizeConnection marks the connection of a request that presented the token.
func authorizeConnection(ctx context.Context) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return // served by another http.Server than that of Serve
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.leaveUnauthorized()
}

// restTimeout is how long the rest of a refused request is read. If a connection is closed while
// a body is on its way, the client may lose the answer.
const restTimeout = time.Second

// hangUp ends the connection of a refused request after its answer.
func hangUp(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Now().Add(restTimeout)) // fails only if w is no connection
	_ = out.SetWriteDeadline(time.Now().Add(headerTimeout))
}

// limitBody returns the body of a request, which fails if it has not ended within a time.
func limitBody(w http.ResponseWriter, body io.ReadCloser, limit time.Duration) io.ReadCloser {
	if body == nil || body == http.NoBody {
		return body // a deadline would end the stream that answers the request
	}
	out := http.NewResponseController(w)
	if out.SetReadDeadline(time.Now().Add(limit)) != nil {
		return body
	}
	return &timedBody{body, out}
}

// timedBody is a body that ends its deadline when it has been read.
type timedBody struct {
	io.ReadCloser
	out *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.out.SetReadDeadline(time.Time{})
	}
	return n, err
}
