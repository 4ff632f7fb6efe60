package nats

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// Owners are in the stream of the leases, of which all programs see the last message.
func (l *Log) ownerSubject(token string) string { return l.options.Name + ".leases.owner." + token }

// owned is the data of an owner.
type owned struct {
	Session string `json:"session"`
	Owner   string `json:"owner"`
}

// PutOwner implements eventlog.Log.
func (l *Log) PutOwner(ctx context.Context, session, owner string) error {
	subject := l.ownerSubject(tokenOf(session))
	data, err := json.Marshal(owned{session, owner})
	if err != nil {
		return err
	}
	other := false
	err = l.withRetry(ctx, "store an owner", func(ctx context.Context) error {
		var stored owned
		sequence, err := l.lastOf(ctx, subject, &stored)
		if other = stored.Session != "" && stored.Owner != owner; err != nil || other {
			return err
		}
		_, err = l.js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(sequence), jetstream.WithRetryAttempts(0))
		if isWrongLast(err) {
			return errRaced
		}
		return err
	})
	if err == nil && other {
		return fmt.Errorf("%s: %w: %q", l.name, eventlog.ErrOwned, session)
	}
	return err
}

// Owner implements eventlog.Log.
func (l *Log) Owner(ctx context.Context, session string) (string, error) {
	var stored owned
	err := l.withRetry(ctx, "read an owner", func(ctx context.Context) error {
		_, err := l.lastOf(ctx, l.ownerSubject(tokenOf(session)), &stored)
		return err
	})
	return stored.Owner, err
}

// Owners implements eventlog.Log.
func (l *Log) Owners(ctx context.Context) (out map[string]string, err error) {
	err = l.withRetry(ctx, "list owners", func(ctx context.Context) error {
		out = map[string]string{}
		return lastMessages(ctx, l.leases, l.ownerSubject("*"), func(_ string, _ nats.Header, data []byte) error {
			var stored owned
			err := json.Unmarshal(data, &stored)
			if stored.Owner != "" {
				out[stored.Session] = stored.Owner
			}
			return err
		}, false)
	})
	return out, err
}
