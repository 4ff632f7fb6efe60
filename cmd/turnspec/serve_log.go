package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// sharedLog is an event log that servers share.
type sharedLog interface {
	eventlog.Log
	lease.Leases
	fmt.Stringer
}

// openDatabase opens a log in a database. It is nil in builds without the tag databases.
var openDatabase func(ctx context.Context, address string) (sharedLog, error)

// openLog opens the event log, and returns where it is, and the leases of the servers
// that share it: nil if none do.
func (f serveFlags) openLog(ctx context.Context) (eventlog.Log, lease.Leases, string, error) {
	scheme, _, isURL := strings.Cut(f.log, "://")
	if !isURL {
		scheme = ""
	}
	switch scheme {
	case "postgres", "postgresql", "nats", "tls":
		if openDatabase == nil {
			return nil, nil, "", fmt.Errorf("--log %s://: this build has no client of databases: use a program of `make dist`, or build with `go build -tags databases ./cmd/turnspec`", scheme)
		}
		log, err := openDatabase(ctx, f.log)
		if err != nil {
			return nil, nil, "", err
		}
		return log, log, "in " + log.String(), nil
	case "":
	default:
		return nil, nil, "", fmt.Errorf("--log %s://: use postgres:// or nats://, or name a file", scheme)
	}
	if f.log == "" && len(f.runtimes) == 0 {
		if f.durable {
			return nil, nil, "", errors.New("--durable: a demo keeps events in memory; name a file with --log")
		}
		return &eventlog.Memory{}, nil, "in memory", nil
	}
	name := cmp.Or(f.log, "turnspec.db")
	log, err := sqlite.Open(ctx, name, sqlite.Options{Relaxed: !f.durable})
	return log, nil, name, err
}

// recoverLeave is the value of --recover for servers that leave alone the sessions of other servers.
const recoverLeave = "leave"

// takeSessions decides what happens to the sessions that other servers left behind. If
// servers share the log, the server joins them.
func (f serveFlags) takeSessions(ctx context.Context, errOut io.Writer, s *sidecar.Server, leases lease.Leases, address string) error {
	how := sidecar.Recovery(f.recovery)
	switch {
	case how != recoverLeave && how != sidecar.RecoverClose && how != sidecar.RecoverResume:
		return fmt.Errorf("--recover %q: use close, resume or leave", f.recovery)
	case leases == nil:
		return f.recoverSessions(ctx, errOut, s)
	case how == recoverLeave:
		return errors.New("--recover leave: servers that share a log take over each other's sessions; use close or resume")
	}
	return s.Join(ctx, sidecar.Shared{
		Leases: leases, TTL: f.lease, Recovery: how,
		Self:   lease.Server{Name: rand.Text(), URL: cmp.Or(f.url, address)},
		Report: func(err error) { fmt.Fprintln(errOut, err) },
	})
}

// recoverSessions ends the sessions that an earlier server left behind.
func (f serveFlags) recoverSessions(ctx context.Context, errOut io.Writer, s *sidecar.Server) error {
	if f.recovery == recoverLeave {
		return nil
	}
	ended, err := s.Recover(ctx, sidecar.Recovery(f.recovery))
	if len(ended) > 0 {
		fmt.Fprintf(errOut, "closed in the log, because the server that ran them is gone: %s\n", strings.Join(ended, ", "))
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(errOut, err) // the others are served
	}
	return ctx.Err()
}
