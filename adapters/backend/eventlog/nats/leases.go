package nats

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
)

var _ lease.Leases = (*Log)(nil)

// Registrations are messages that the server deletes when their time is over, so no two
// clocks are compared. Claims stay until they are released or replaced.
func (l *Log) serverSubject(name string) string { return l.options.Name + ".leases.server." + name }
func (l *Log) claimSubject(token string) string { return l.options.Name + ".leases.claim." + token }

// claim is the data of a claim.
type claim struct {
	Session string `json:"session"`
	Server  string `json:"server"` // none if it was released
}

// withRetry runs one method of the leases.
func (l *Log) withRetry(ctx context.Context, op string, try func(context.Context) error) error {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	err = l.retry(ctx, try)
	if _, held := errors.AsType[*lease.HeldError](err); held {
		return err
	}
	return l.methodError(ctx, op, err)
}

// lastOf decodes the last message of a subject of the leases, and returns its sequence,
// 0 if there is none.
func (l *Log) lastOf(ctx context.Context, subject string, into any) (uint64, error) {
	m, err := l.leases.GetLastMsgForSubject(ctx, subject)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return 0, nil
	case err != nil:
		return 0, err
	case len(m.Data) == 0: // a marker of JetStream
		return m.Sequence, nil
	}
	return m.Sequence, json.Unmarshal(m.Data, into)
}

// Beat implements lease.Leases.
func (l *Log) Beat(ctx context.Context, s eventlog.LeaseServer, ttl time.Duration) (renewed bool, err error) {
	data, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	subject := l.serverSubject(tokenOf(s.Name))
	err = l.withRetry(ctx, "register the server", func(ctx context.Context) error {
		var before eventlog.LeaseServer
		if _, err := l.lastOf(ctx, subject, &before); err != nil {
			return err
		}
		renewed = before.Name != ""
		_, err := l.js.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: data}, jetstream.WithMsgTTL(max(ttl, time.Second).Round(time.Second)), jetstream.WithRetryAttempts(0))
		return err
	})
	return renewed, err
}

// Claim implements lease.Leases.
func (l *Log) Claim(ctx context.Context, session, server string) error {
	subject := l.claimSubject(tokenOf(session))
	return l.withRetry(ctx, "claim a session", func(ctx context.Context) error {
		holder, held, sequence, err := l.holder(ctx, session)
		switch {
		case err != nil:
			return err
		case held && holder.Name != server:
			return &lease.HeldError{Session: session, Holder: holder}
		}
		_, err = l.putClaim(ctx, subject, claim{session, server}, sequence)
		return err
	})
}

// putClaim replaces the claim with a sequence, and returns the sequence of the new one.
func (l *Log) putClaim(ctx context.Context, subject string, c claim, sequence uint64) (uint64, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	ack, err := l.js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(sequence), jetstream.WithRetryAttempts(0))
	switch {
	case isWrongLast(err):
		return 0, errRaced
	case err != nil:
		return 0, err
	}
	return ack.Sequence, nil
}

// holder returns the registered server that holds a session, and the sequence of the
// claim.
func (l *Log) holder(ctx context.Context, session string) (s eventlog.LeaseServer, held bool, sequence uint64, err error) {
	var c claim
	if sequence, err = l.lastOf(ctx, l.claimSubject(tokenOf(session)), &c); err != nil || c.Server == "" {
		return s, false, sequence, err
	}
	_, err = l.lastOf(ctx, l.serverSubject(tokenOf(c.Server)), &s)
	return s, s.Name != "", sequence, err
}

// Release implements lease.Leases.
func (l *Log) Release(ctx context.Context, session, server string) error {
	subject := l.claimSubject(tokenOf(session))
	return l.withRetry(ctx, "release a session", func(ctx context.Context) error {
		var c claim
		sequence, err := l.lastOf(ctx, subject, &c)
		if err != nil || c.Server != server {
			return err
		}
		// Replaced before it is deleted, because a deletion cannot name what it expects.
		if sequence, err = l.putClaim(ctx, subject, claim{Session: session}, sequence); err != nil {
			return err
		}
		return l.leases.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(sequence+1))
	})
}

// Holder implements lease.Leases.
func (l *Log) Holder(ctx context.Context, session string) (s eventlog.LeaseServer, held bool, err error) {
	err = l.withRetry(ctx, "read a claim", func(ctx context.Context) (err error) {
		s, held, _, err = l.holder(ctx, session)
		return err
	})
	return s, held, err
}

// Abandoned implements lease.Leases. It reads all claims.
func (l *Log) Abandoned(ctx context.Context) (sessions []string, err error) {
	err = l.withRetry(ctx, "list claims", func(ctx context.Context) error {
		sessions = nil
		var claims []claim
		err := lastMessages(ctx, l.leases, l.claimSubject("*"), func(_ string, _ nats.Header, data []byte) error {
			var c claim
			err := json.Unmarshal(data, &c)
			if c.Server != "" {
				claims = append(claims, c)
			}
			return err
		}, false)
		if err != nil {
			return err
		}
		registered := map[string]bool{} // read after the claims
		for _, c := range claims {
			if _, known := registered[c.Server]; !known {
				var s eventlog.LeaseServer
				if _, err := l.lastOf(ctx, l.serverSubject(tokenOf(c.Server)), &s); err != nil {
					return err
				}
				registered[c.Server] = s.Name != ""
			}
			if !registered[c.Server] {
				sessions = append(sessions, c.Session)
			}
		}
		slices.Sort(sessions)
		return nil
	})
	return sessions, err
}

// Leave implements lease.Leases.
func (l *Log) Leave(ctx context.Context, server string) error {
	return l.withRetry(ctx, "leave", func(ctx context.Context) error {
		return l.leases.Purge(ctx, jetstream.WithPurgeSubject(l.serverSubject(tokenOf(server))))
	})
}
