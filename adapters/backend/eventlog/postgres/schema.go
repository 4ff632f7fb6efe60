package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// migrations[i] migrates the tables from version i to i+1. Never change one: databases
// exist that were created by it.
var migrations = []string{
	// Events refer to a session by number instead of repeating a long id. info is the
	// JSON of an eventlog.Info, so that a list reads no events. Times are texts because
	// PostgreSQL's have no nanoseconds. Ids are compared byte by byte (COLLATE "C"), as
	// in other logs.
	`CREATE TABLE turnspec_sessions (
		n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		id       text COLLATE "C" NOT NULL UNIQUE,
		info     text NOT NULL,
		latest   text COLLATE "C" NOT NULL,
		last_seq bigint NOT NULL
	);
	CREATE INDEX turnspec_sessions_latest ON turnspec_sessions (latest DESC, id);
	CREATE TABLE turnspec_events (
		session bigint NOT NULL REFERENCES turnspec_sessions (n) ON DELETE CASCADE,
		seq     bigint NOT NULL,
		event   text NOT NULL,
		PRIMARY KEY (session, seq)
	);
	CREATE TABLE turnspec_snapshots (
		session bigint NOT NULL REFERENCES turnspec_sessions (n) ON DELETE CASCADE,
		kind    text COLLATE "C" NOT NULL,
		seq     bigint NOT NULL,
		data    bytea NOT NULL,
		PRIMARY KEY (session, kind, seq)
	);`,
	// Claims of sessions, which need not have events, by servers.
	`CREATE TABLE turnspec_servers (
		name    text COLLATE "C" PRIMARY KEY,
		url     text NOT NULL,
		expires timestamptz NOT NULL
	);
	CREATE TABLE turnspec_claims (
		session text COLLATE "C" PRIMARY KEY,
		server  text COLLATE "C" NOT NULL
	);
	CREATE INDEX turnspec_claims_server ON turnspec_claims (server);`,
	// Media are compressed already.
	`CREATE TABLE turnspec_media (
		session bigint NOT NULL REFERENCES turnspec_sessions (n) ON DELETE CASCADE,
		sha256  text COLLATE "C" NOT NULL,
		kind    text NOT NULL,
		mime    text NOT NULL,
		data    bytea NOT NULL,
		PRIMARY KEY (session, sha256)
	);
	ALTER TABLE turnspec_media ALTER data SET STORAGE EXTERNAL;`,
	// Sessions need not have events, as in turnspec_claims.
	`CREATE TABLE turnspec_owners (
		session text COLLATE "C" PRIMARY KEY,
		owner   text NOT NULL
	);`,
}

// version is the version of new tables.
var version = len(migrations)

// migrationLock is the key of the advisory lock that is held while tables are migrated:
// "TSev".
const migrationLock = 0x54536576

// migrate creates the tables, or migrates them to the newest version. Other programs
// may do so concurrently.
func (l *Log) migrate(ctx context.Context, c *pgconn.PgConn) (err error) {
	if encoding := c.ParameterStatus("server_encoding"); encoding != "UTF8" {
		return fmt.Errorf("%w: the database's encoding is %s; create one with ENCODING 'UTF8'", eventlog.ErrNotLog, encoding)
	}
	v, err := tablesVersion(ctx, c)
	if err != nil || v == version {
		return err
	}
	if _, err := c.Exec(ctx, fmt.Sprintf("BEGIN; SELECT pg_advisory_xact_lock(%d)", migrationLock)).ReadAll(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = c.Exec(ctx, "ROLLBACK").ReadAll() // the first error counts
		}
	}()
	if v, err = tablesVersion(ctx, c); err != nil { // again, now that no other program migrates
		return err
	}
	for i := v; i < version; i++ {
		if _, err := c.Exec(ctx, migrations[i]).ReadAll(); err != nil {
			return fmt.Errorf("migrate to version %d: %w", i+1, err)
		}
	}
	_, err = c.Exec(ctx, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS turnspec_version (version integer NOT NULL);
		DELETE FROM turnspec_version; INSERT INTO turnspec_version VALUES (%d); COMMIT`, version)).ReadAll()
	return err
}

// tablesVersion returns the version of the tables, 0 if there are none. It returns an
// error if they are of a newer version.
func tablesVersion(ctx context.Context, c *pgconn.PgConn) (int, error) {
	v := 0
	err := query(ctx, c, `SELECT count(*) FROM pg_class WHERE oid = to_regclass('turnspec_version')`, func(row [][]byte) error {
		v = int(numberOf(row[0]))
		return nil
	})
	if err != nil || v == 0 {
		return 0, err
	}
	err = query(ctx, c, `SELECT version FROM turnspec_version`, func(row [][]byte) error {
		v = int(numberOf(row[0]))
		return nil
	})
	if err == nil && v > version {
		return 0, fmt.Errorf("%w: the tables have version %d and this program knows those up to %d; update the program", eventlog.ErrNewer, v, version)
	}
	return v, err
}
