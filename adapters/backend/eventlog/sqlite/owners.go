package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// sessionOwner is the owner of a session that waits for its commit. (owner.go has that of the file.)
type sessionOwner struct{ session, owner string }

// ownersVersion is the first version of a file that holds the owners of sessions. An older one
// was opened read-only, so it is not migrated.
const ownersVersion = 5

// PutOwner implements eventlog.Log.
func (l *Log) PutOwner(ctx context.Context, session, owner string) error {
	if err := l.checkOpen(ctx); err != nil {
		return err
	}
	return l.sendToWriter(ctx, &request{owner: &sessionOwner{session, owner}, bytes: len(session) + len(owner)})
}

func (w *writer) insertOwner(ctx context.Context, o *sessionOwner) error {
	var stored string
	err := w.conn.QueryRowContext(ctx, `SELECT owner FROM owners WHERE session = ?`, o.session).Scan(&stored)
	switch {
	case err == nil && stored != o.owner:
		return fmt.Errorf("%s: %w: %q", w.log.path, eventlog.ErrOwned, o.session)
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	}
	// REPLACE gives the row a new number. SQLite does not write a row that stays the same.
	_, err = w.conn.ExecContext(ctx, `REPLACE INTO owners (session, owner) VALUES (?, ?)`, o.session, o.owner)
	return err
}

// Owner implements eventlog.Log.
func (l *Log) Owner(ctx context.Context, session string) (owner string, err error) {
	if err := l.checkOpen(ctx); err != nil || l.version < ownersVersion {
		return "", err
	}
	err = l.readers.QueryRowContext(ctx, `SELECT owner FROM owners WHERE session = ?`, session).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return owner, l.methodError(ctx, "read an owner", err)
}

// Owners implements eventlog.Log.
func (l *Log) Owners(ctx context.Context) (map[string]string, error) {
	if err := l.checkOpen(ctx); err != nil || l.version < ownersVersion {
		return nil, err
	}
	rows, err := l.readers.QueryContext(ctx, `SELECT session, owner FROM owners WHERE owner != ''`)
	if err != nil {
		return nil, l.methodError(ctx, "list owners", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	out := map[string]string{}
	for rows.Next() {
		var session, owner string
		if err := rows.Scan(&session, &owner); err != nil {
			return nil, l.methodError(ctx, "list owners", err)
		}
		out[session] = owner
	}
	return out, l.methodError(ctx, "list owners", rows.Err())
}
