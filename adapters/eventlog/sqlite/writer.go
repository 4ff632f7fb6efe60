package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/eventlog"
)

// What one transaction takes at most, but for the request that passes it.
const (
	commitEvents = 4096
	commitBytes  = 4 << 20
)

const (
	rowsAtOnce     = 32    // one statement for many rows takes a third of the time
	sessionsCached = 10000 // what is known of them; then it is read anew
)

// writer is the one goroutine that writes.
type writer struct {
	log      *Log
	db       *sql.DB
	conn     *sql.Conn
	requests chan *request // not buffered: what is sent has been taken

	insertMany, insertOne, addSession, setSession, getSession, getEvent *sql.Stmt
	beginNow, commitAll, rollBack, dataVersion                          *sql.Stmt

	statements []*sql.Stmt // all of them

	seen     int64 // the data version for which the sessions hold
	sessions map[string]*session
	dirty    []*session
	rows     []any // to be inserted: session, seq, event
}

// session is what the writer knows of one.
type session struct {
	n     int64
	info  eventlog.Info
	dirty bool
}

func newWriter(ctx context.Context, l *Log, abs string) (w *writer, err error) {
	db, err := sql.Open("sqlite", source(abs, "mode", "rw"))
	if err != nil {
		return nil, fail(l.path, "open", err)
	}
	db.SetMaxOpenConns(1)
	w = &writer{log: l, db: db, requests: make(chan *request), sessions: map[string]*session{}}
	if w.conn, err = db.Conn(ctx); err == nil {
		if err = w.prepare(ctx); err == nil {
			return w, nil
		}
		_ = w.close() // the first error is the one to tell
		return nil, err
	}
	_ = db.Close() // the first error is the one to tell
	return nil, fail(l.path, "open", err)
}

// prepare makes the connection and the file ready to be written.
func (w *writer) prepare(ctx context.Context) error {
	l := w.log
	sync := "FULL"
	if l.options.Relaxed {
		sync = "NORMAL"
	}
	settings := []string{
		fmt.Sprintf("busy_timeout = %d", l.options.Busy.Milliseconds()),
		"synchronous = " + sync,
		"journal_size_limit = 16777216",
	}
	if l.options.maxPages > 0 {
		settings = append(settings, fmt.Sprintf("max_page_count = %d", l.options.maxPages))
	}
	for _, s := range settings {
		if _, err := w.conn.ExecContext(ctx, "PRAGMA "+s); err != nil {
			return fail(l.path, "open", err)
		}
	}
	if err := migrate(ctx, w.conn, l.path, l.options.version); err != nil {
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
		strings.Replace(selectSessions, " FROM", ", n FROM", 1) + ` WHERE id = ?`: &w.getSession,
		`SELECT event FROM events WHERE session = ? AND seq = ?`:                  &w.getEvent,
		"BEGIN IMMEDIATE":     &w.beginNow,
		"COMMIT":              &w.commitAll,
		"ROLLBACK":            &w.rollBack,
		"PRAGMA data_version": &w.dataVersion,
	} {
		stmt, err := w.conn.PrepareContext(ctx, query) //nolint:sqlclosecheck // close does
		if err != nil {
			return fail(l.path, "open", err)
		}
		*to = stmt
		w.statements = append(w.statements, stmt)
	}
	return nil
}

// close ends the connection. SQLite tidies up only where no statement is left.
func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.statements {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// run commits requests until the log is closed.
func (w *writer) run() {
	var batch []*request
	for {
		select {
		case r := <-w.requests:
			batch = append(batch[:0], r)
		case <-w.log.closing:
			return
		}
		events, bytes := len(batch[0].entries), batch[0].bytes
	gather:
		for events < commitEvents && bytes < commitBytes {
			select {
			case r := <-w.requests: // what came while the last was committed
				batch = append(batch, r)
				events += len(r.entries)
				bytes += r.bytes
			default:
				break gather
			}
		}
		err := w.commit(batch)
		for _, s := range w.dirty {
			s.dirty = false
			if err == nil {
				w.log.wake.Wake(s.info.SessionID)
			}
		}
		w.dirty, w.rows = w.dirty[:0], w.rows[:0]
		clear(w.rows[:cap(w.rows)])
		for _, r := range batch {
			if err != nil {
				r.err = err
			}
			r.done <- r.err
		}
		clear(batch)
	}
}

// commit stores what it can of each request in one transaction. Its error is of
// all of them; the error of one stands in it.
func (w *writer) commit(batch []*request) error {
	ctx := context.Background()
	if _, err := w.beginNow.ExecContext(ctx); err != nil { // waits for others, Options.Busy at most
		return fail(w.log.path, "append", err)
	}
	err := w.store(ctx, batch)
	if err == nil {
		_, err = w.commitAll.ExecContext(ctx)
	}
	if err != nil {
		_, _ = w.rollBack.ExecContext(ctx) // fails where SQLite has done it
		clear(w.sessions)
		return fail(w.log.path, "append", err)
	}
	return nil
}
