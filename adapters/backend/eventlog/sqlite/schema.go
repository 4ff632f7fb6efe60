package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// applicationID is the PRAGMA application_id of a log: "TSev".
const applicationID = 0x54536576

// pageBytes is the page size of new files. A commit writes whole pages, and most of them
// hold one new event, so that pages of SQLite's default size, 4096, are twice as much to
// write.
const pageBytes = 2048

// migrations[i] migrates a file from version i to i+1. Never change one: files
// exist that were created by it.
var migrations = []string{
	// Events refer to a session by number instead of repeating a long id.
	// The sessions table holds each Info, so that a list reads few events.
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
	`CREATE TABLE media (
		session INTEGER NOT NULL REFERENCES sessions (n),
		sha256  TEXT NOT NULL,
		kind    TEXT NOT NULL,
		mime    TEXT NOT NULL,
		data    BLOB NOT NULL,
		PRIMARY KEY (session, sha256)
	);`,
	// From here on a row of sessions may be older than the session's last events.
	``,
	// A session has an owner before it has events. Its row is in a table and in an index, so that a
	// commit of it needs more room than a full disk may have left in the last block of FILE-wal.
	`CREATE TABLE owners (
		session TEXT NOT NULL UNIQUE,
		owner   TEXT NOT NULL
	);`,
}

// version is the version of new files.
var version = len(migrations)

// rowQuerier is an *sql.Conn or an *sql.DB.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// fileVersion returns the version of a file, 0 if it is new. It returns an error if
// the file is not a log or has a newer version.
func fileVersion(ctx context.Context, q rowQuerier, path string) (int, error) {
	var id, v, tables int
	// One statement, because another program may migrate the file meanwhile.
	err := q.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)`).Scan(&id, &v, &tables)
	if err != nil {
		return 0, explainError(path, "open", err)
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

// migrate migrates a file to the newest version. Other programs may do so concurrently.
// It waits up to busy for them.
func migrate(ctx context.Context, conn *sql.Conn, path string, busy time.Duration) (err error) {
	v, err := prepareEmpty(ctx, conn, path, busy)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil { // fails if the file cannot be written
		return explainError(path, "open", err)
	}
	defer func() {
		if err != nil || v >= version {
			_, _ = conn.ExecContext(ctx, "ROLLBACK")
		}
	}()
	if v, err = fileVersion(ctx, conn, path); err != nil { // now that no other program can write
		return err
	}
	if v >= version {
		return nil
	}
	for i := v; i < version; i++ {
		if _, err := conn.ExecContext(ctx, migrations[i]); err != nil {
			return explainError(path, fmt.Sprintf("migrate to version %d", i+1), err)
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", applicationID, version))
	return explainError(path, "open", err)
}

// prepareEmpty sets what can be changed only in an empty file, and returns the version of the file.
func prepareEmpty(ctx context.Context, conn *sql.Conn, path string, busy time.Duration) (v int, err error) {
	for end := time.Now().Add(busy); ; {
		if v, err = fileVersion(ctx, conn, path); err != nil || v > 0 {
			return v, err
		}
		_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA page_size = %d; PRAGMA journal_mode = WAL", pageBytes))
		err = explainError(path, "open", err)
		// SQLite does not apply its busy_timeout to a change of the journal mode.
		if !errors.Is(err, eventlog.ErrBusy) || time.Now().After(end) {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
