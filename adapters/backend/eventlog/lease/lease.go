// Package lease decides which of several servers behind one event log runs a session. It
// is not part of the stable interface.
//
// A server registers with Beat and renews its registration while it lives. Before it
// opens a session it claims it. A claim counts as long as its server is registered, so
// the number of renewals depends on the servers, not on the sessions. If a server is
// gone, Abandoned lists its sessions, and another server may claim them.
//
// A server that stalls may not notice that another one claimed its session. The log
// protects itself: each event has a seq, and of two servers that append different events
// one receives an eventlog.ConflictError and must end the session.
//
// Memory holds the leases of the servers of one program, for tests. The logs of packages
// postgres and nats hold those of any number of machines. A log in a file has none: one
// server runs all its sessions.
package lease

import (
	"context"
	"fmt"
	"time"
)

// Server is a server that runs sessions.
type Server struct {
	Name string `json:"name"`          // of one process: a server that starts again has another
	URL  string `json:"url,omitempty"` // where clients reach it
}

// Leases hold registrations and claims. Their methods may be called from any goroutine.
type Leases interface {
	// Beat registers a server for a time, which is a second at least, or renews its
	// registration. It reports whether it was still registered. If it was not, others may
	// have claimed its sessions.
	Beat(ctx context.Context, s Server, ttl time.Duration) (renewed bool, err error)

	// Claim gives a session to a server, which must be registered. If another registered
	// server holds it, Claim returns a *HeldError. The holder may claim it again.
	Claim(ctx context.Context, session, server string) error

	// Release ends the claim of a server. If another server holds the session, or none,
	// it does nothing.
	Release(ctx context.Context, session, server string) error

	// Holder returns the registered server that holds a session. It reports false if there
	// is none.
	Holder(ctx context.Context, session string) (s Server, held bool, err error)

	// Abandoned returns the sessions whose holder is not registered any more.
	Abandoned(ctx context.Context) (sessions []string, err error)

	// Leave ends the registration of a server. What it still holds is abandoned.
	Leave(ctx context.Context, server string) error
}

// HeldError is returned if another server holds a session.
type HeldError struct {
	Session string
	Holder  Server
}

func (e *HeldError) Error() string {
	where := e.Holder.Name
	if e.Holder.URL != "" {
		where = e.Holder.URL
	}
	return fmt.Sprintf("session %q runs on another server: send the request to %s", e.Session, where)
}
