package sidecar

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// The limits of Serve.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
	// sessionGrace is how long sessions have to end. One whose runtime ignores the end of
	// its input and SIGTERM takes seven seconds (adapters.Limits).
	sessionGrace = 20 * time.Second
	// clientGrace is how long listeners have to read the last events, and clients to send
	// the rest of a request.
	clientGrace = 2 * time.Second
)

// Serve serves the connections of l until ctx is done. Then it ends the sessions, sends the
// last events to listeners, and closes all connections: a client that does not read or
// does not finish its request delays it for two seconds at most. It closes l.
//
// Serve limits what an http.Server does not: a connection on which no request presented the
// token is closed if Config.MaxUnauthorized newer ones are open.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	tracked := newConnections(l, s.c.MaxUnauthorized)
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(tracked) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ctx = context.WithoutCancel(ctx)
	limited, cancel := context.WithTimeout(ctx, sessionGrace)
	defer cancel()
	err := s.endSessions(limited)
	waiting, cancel := context.WithTimeout(ctx, clientGrace)
	defer cancel()
	_ = s.waitForStreams(waiting)
	_ = server.Shutdown(waiting)
	_ = server.Close()
	tracked.closeConnections() // WebSockets, which the http.Server does not know any more
	return errors.Join(err, s.waitForStreams(limited))
}
