package postgres

import (
	"context"
	"fmt"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// PutOwner implements eventlog.Log.
func (l *Log) PutOwner(ctx context.Context, session, owner string) error {
	stored := ""
	// The update writes a new version of a row that stays the same.
	err := l.exec(ctx, "store an owner", `INSERT INTO turnspec_owners AS o (session, owner) VALUES ($1, $2)
		ON CONFLICT (session) DO UPDATE SET owner = o.owner RETURNING owner`, func(row [][]byte) error {
		stored = string(row[0])
		return nil
	}, session, owner)
	if err == nil && stored != owner {
		return fmt.Errorf("%s: %w: %q", l.name, eventlog.ErrOwned, session)
	}
	return err
}

// Owner implements eventlog.Log.
func (l *Log) Owner(ctx context.Context, session string) (owner string, err error) {
	err = l.exec(ctx, "read an owner", `SELECT owner FROM turnspec_owners WHERE session = $1`, func(row [][]byte) error {
		owner = string(row[0])
		return nil
	}, session)
	return owner, err
}

// Owners implements eventlog.Log.
func (l *Log) Owners(ctx context.Context) (out map[string]string, err error) {
	out = map[string]string{}
	err = l.exec(ctx, "list owners", `SELECT session, owner FROM turnspec_owners WHERE owner <> ''`, func(row [][]byte) error {
		out[string(row[0])] = string(row[1])
		return nil
	})
	return out, err
}
