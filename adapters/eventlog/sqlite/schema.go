package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/turnspec/turnspec/adapters/eventlog"
)

// applicationID marks the file as ours: "TSev".
const applicationID = 0x54536576

// migrations make a file of version i one of version i+1. What stands here is
// never changed: files in the world were made by it.
var migrations = []string{
	// Sessions are numbered, so that each event does not repeat a long id. What
	// is known of a session stands beside its events, so that a list reads
	// none of them.
	`CREATE TABLE sessions (
		n                INTEGER PRIMARY KEY,
		id               TEXT NOT NULL UNIQUE,
		runtime          TEXT NOT NULL,
		provider_session TEXT NOT NULL,
		title            TEXT NOT NULL,
		first_ts         TEXT NOT NULL,
		latest_ts        TEXT NOT NULL,
		last_seq         INTEGER NOT NULL,
		last_turn        INTEGER NOT NULL
	);
	CREATE TABLE events (
		session INTEGER NOT NULL REFERENCES sessions (n),
		seq     INTEGER NOT NULL,
		event   TEXT NOT NULL,
		PRIMARY KEY (session, seq)
	) WITHOUT ROWID;`,
	`CREATE TABLE snapshots (
		session INTEGER NOT NULL REFERENCES sessions (n),
		kind    TEXT NOT NULL,
		seq     INTEGER NOT NULL,
		data    BLOB NOT NULL,
		PRIMARY KEY (session, kind, seq)
	);`,
}

// version is the newest version that this package knows.
var version = len(migrations)

// queryer is a connection or a pool of them.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// versionOf returns the version of a file, 0 of a new one; what is no log, or a
// log of a newer version, is an error.
func versionOf(ctx context.Context, q queryer, path string) (int, error) {
	var id, v, tables int
	for query, to := range map[string]*int{
		"PRAGMA application_id": &id, "PRAGMA user_version": &v, "SELECT count(*) FROM sqlite_master": &tables,
	} {
		if err := q.QueryRowContext(ctx, query).Scan(to); err != nil {
			return 0, fail(path, "open", err)
		}
	}
	switch {
	case id == 0 && v == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, fmt.Errorf("%s: open: %w: it is the SQLite database of something else; name another file", path, eventlog.ErrNotLog)
	case v > version:
		return 0, fmt.Errorf("%s: open: %w: the file has version %d and this program knows those up to %d; update the program", path, eventlog.ErrNewer, v, version)
	}
	return v, nil
}

// migrate brings a file to a version. Others may try the same at the same time.
func migrate(ctx context.Context, conn *sql.Conn, path string, to int) (err error) {
	v, err := versionOf(ctx, conn, path)
	if err != nil {
		return err
	}
	if v == 0 { // it holds nothing yet: only then may its pages be made otherwise
		if _, err := conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
			return fail(path, "open", err)
		}
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil { // where it cannot be written, this tells
		return fail(path, "open", err)
	}
	defer func() {
		if err != nil || v >= to {
			_, _ = conn.ExecContext(ctx, "ROLLBACK") // the first error is the one to tell
		}
	}()
	if v, err = versionOf(ctx, conn, path); err != nil { // as it is now that nobody else writes
		return err
	}
	if v >= to {
		return nil
	}
	for i := v; i < to; i++ {
		if _, err := conn.ExecContext(ctx, migrations[i]); err != nil {
			return fail(path, fmt.Sprintf("bring it to version %d", i+1), err)
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", applicationID, to))
	return fail(path, "open", err)
}
