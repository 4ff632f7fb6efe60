package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// Limits of one transaction. The request that exceeds them is still included.
const (
	commitEvents = 4096
	commitBytes  = 4 << 20
)

const (
	rowsAtOnce     = 32    // inserting many rows at once takes a third of the time
	sessionsCached = 10000 // above this the cache is cleared
)

// writer commits requests. One goroutine at a time uses it, but for the queue.
type writer struct {
	log   *Log
	db    *sql.DB
	conn  *sql.Conn
	queue queue
	batch []*request // of the commit

	insertMany, insertOne, addSession, setSession, getSession, getEvent *sql.Stmt
	beginNow, commitAll, rollBack, dataVersion                          *sql.Stmt

	statements []*sql.Stmt // all of the above

	seen     int64 // the data version at which sessions is valid
	sessions map[string]*session
	dirty    []*session // that have new events
	pages    int        // of FILE-wal since they were last copied

	rowsWritten int   // of sessions, in the last commit
	rows        []any // session, seq, event of the rows to insert
}

// session is the cached state of a session.
type session struct {
	n      int64
	info   eventlog.Info
	dirty  bool  // it has new events
	row    int64 // the seq of the last event that its row knows of
	rowDue bool  // its row is to be written
}

func newWriter(ctx context.Context, l *Log, abs string) (w *writer, err error) {
	db, err := sql.Open("sqlite", dataSource(abs, "mode", "rw"))
	if err != nil {
		return nil, explainError(l.path, "open", err)
	}
	db.SetMaxOpenConns(1)
	w = &writer{log: l, db: db, sessions: map[string]*session{}}
	if w.conn, err = db.Conn(ctx); err == nil {
		if err = w.prepare(ctx); err == nil {
			return w, nil
		}
		_ = w.closeConn()
		return nil, err
	}
	_ = db.Close()
	return nil, explainError(l.path, "open", err)
}

// prepare configures the connection, migrates the file and prepares statements.
func (w *writer) prepare(ctx context.Context) error {
	l := w.log
	sync := "FULL"
	if l.options.Relaxed {
		sync = "NORMAL"
	}
	settings := []string{
		fmt.Sprintf("busy_timeout = %d", l.options.Busy.Milliseconds()),
		"synchronous = " + sync,
		// SQLite shortens FILE-wal to this size in a commit, which takes 50 ms for 80 MiB: only
		// one that has grown beyond what the copier lets it.
		fmt.Sprintf("journal_size_limit = %d", 3*l.options.walPages*pageBytes),
		// The copier does it, unless it cannot keep up.
		fmt.Sprintf("wal_autocheckpoint = %d", 2*l.options.walPages),
	}
	if l.options.maxPages > 0 {
		settings = append(settings, fmt.Sprintf("max_page_count = %d", l.options.maxPages))
	}
	for _, s := range settings {
		if _, err := w.conn.ExecContext(ctx, "PRAGMA "+s); err != nil {
			return explainError(l.path, "open", err)
		}
	}
	if err := migrate(ctx, w.conn, l.path, l.options.Busy); err != nil {
		return err
	}
	many := strings.Repeat(", (?, ?, ?)", rowsAtOnce)[2:]
	for query, to := range map[string]**sql.Stmt{
		`INSERT INTO events (session, seq, event) VALUES ` + many:   &w.insertMany,
		`INSERT INTO events (session, seq, event) VALUES (?, ?, ?)`: &w.insertOne,
		`INSERT INTO sessions (id, runtime, provider_session, title, first_ts, latest_ts, last_seq, last_turn)
			VALUES (?, '', '', '', '', '', 0, 0)`: &w.addSession,
		`UPDATE sessions SET runtime = ?, provider_session = ?, title = ?, first_ts = ?, latest_ts = ?, last_seq = ?, last_turn = ?
			WHERE n = ?`: &w.setSession,
		selectSession: &w.getSession,
		`SELECT event FROM events WHERE session = ? AND seq = ?`: &w.getEvent,
		"BEGIN IMMEDIATE":     &w.beginNow,
		"COMMIT":              &w.commitAll,
		"ROLLBACK":            &w.rollBack,
		"PRAGMA data_version": &w.dataVersion,
	} {
		stmt, err := w.conn.PrepareContext(ctx, query) //nolint:sqlclosecheck // closeConn closes it
		if err != nil {
			return explainError(l.path, "open", err)
		}
		*to = stmt
		w.statements = append(w.statements, stmt)
	}
	return nil
}

// closeConn closes the statements first: SQLite removes FILE-wal and FILE-shm only
// if none is left.
func (w *writer) closeConn() error {
	var errs []error
	for _, stmt := range w.statements {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// commitNext commits the requests that wait.
func (w *writer) commitNext() {
	batch, bytes := w.queue.take(w.batch)
	defer w.queue.ended(w)
	if len(batch) == 0 {
		return
	}
	w.batch = batch
	err := w.commitBatch(batch)
	if err == nil {
		// An estimate. A commit writes the pages that it has changed: the last one of each
		// session, and those of the rows.
		w.pages += 2*len(w.dirty) + w.rowsWritten + 2*bytes/pageBytes
		full := w.pages > w.log.options.walPages
		if full {
			w.pages = 0
		}
		w.log.copier.committed(full)
	}
	for _, s := range w.dirty {
		s.dirty = false
		if err == nil {
			w.log.changes.Notify(s.info.SessionID)
		}
	}
	w.dirty, w.rows = w.dirty[:0], w.rows[:0]
	clear(w.rows[:cap(w.rows)])
	for _, r := range batch {
		if err != nil {
			r.err = err
		}
		if r.copyRest {
			_, r.err = checkpoint(w.conn)
		}
		r.done <- r.err
	}
	clear(batch)
}

// commitBatch stores requests in one transaction. A refused request gets its own
// error; the returned error applies to all of them.
func (w *writer) commitBatch(batch []*request) error {
	ctx := context.Background()
	if _, err := w.beginNow.ExecContext(ctx); err != nil { // waits up to Options.Busy for other programs
		return explainError(w.log.path, "append", err)
	}
	err := w.storeBatch(ctx, batch)
	if err == nil {
		_, err = w.commitAll.ExecContext(ctx)
	}
	if err != nil {
		_, _ = w.rollBack.ExecContext(ctx) // fails if SQLite has rolled back already
		clear(w.sessions)
		return explainError(w.log.path, "append", err)
	}
	return nil
}
