package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// timeForm is a format whose text order is the order of the times.
const timeForm = "2006-01-02T15:04:05.000000000Z"

const selectPage = `SELECT seq, event FROM events
	WHERE session = (SELECT n FROM sessions WHERE id = ?) AND seq > ? ORDER BY seq LIMIT ?`

// Read implements eventlog.Log. If an event is missing from the file, it returns
// an *eventlog.UnreadableError too.
func (l *Log) Read(ctx context.Context, session string, after int64, limit int) (out []event.Event, err error) {
	if err := l.checkOpen(ctx); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = eventlog.PageEvents
	}
	after = max(after, 0)
	rows, err := l.readers.QueryContext(ctx, selectPage, session, after, limit)
	if err != nil {
		return nil, l.methodError(ctx, "read", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	var size int
	for rows.Next() {
		var seq int64
		var line sql.RawBytes
		if err := rows.Scan(&seq, &line); err != nil {
			return nil, l.methodError(ctx, "read", err)
		}
		if size += len(line); size > eventlog.PageBytes && len(out) > 0 {
			return out, nil
		}
		e, err := event.Decode(line)
		bad := &eventlog.UnreadableError{Session: session, Seq: seq, Err: err}
		switch {
		case seq != after+1:
			bad.Seq, bad.Err = seq-1, fmt.Errorf("events from seq %d on are missing", after+1)
		case err != nil:
		case e.Seq != seq || e.SessionID != session:
			bad.Err = fmt.Errorf("it holds seq %d of session %q", e.Seq, e.SessionID)
		default:
			out, after = append(out, e), seq
			continue
		}
		if len(out) > 0 {
			return out, nil // the next Read returns the error
		}
		return nil, bad
	}
	if err := rows.Err(); err != nil {
		return nil, l.methodError(ctx, "read", err)
	}
	return out, nil
}

// Follow implements eventlog.Log.
func (l *Log) Follow(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error] {
	tail := eventlog.Tail(ctx, after,
		func() <-chan struct{} { return l.changes.Changed(session) },
		func(after int64) ([]event.Event, error) { return l.Read(ctx, session, after, 0) })
	return func(yield func(event.Event, error) bool) {
		defer l.watchFile()()
		tail(yield)
	}
}

// selectSessions selects the rows of all sessions, each with the events that it does not know of.
const (
	selectSessions = `SELECT n, id, runtime, provider_session, title, first_ts, latest_ts, last_seq, last_turn, e.seq, e.event
		FROM sessions LEFT JOIN events e ON e.session = n AND e.seq > last_seq`
	inOrder       = ` ORDER BY n, e.seq`
	selectSession = selectSessions + ` WHERE id = ?` + inOrder
)

// scanSessions reads and closes the rows of selectSessions.
func scanSessions(rows *sql.Rows) (out []*session, err error) {
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	for rows.Next() {
		s := &session{}
		i := &s.info
		var first, latest string
		var seq sql.NullInt64
		var line sql.RawBytes
		if err := rows.Scan(&s.n, &i.SessionID, &i.Runtime, &i.ProviderSessionID, &i.Title, &first, &latest, &i.Last.Seq, &i.Last.Turn, &seq, &line); err != nil {
			return nil, err
		}
		if len(out) > 0 && out[len(out)-1].n == s.n {
			s = out[len(out)-1] // another event of it
		} else {
			if i.First, err = time.Parse(timeForm, first); err == nil {
				i.Latest, err = time.Parse(timeForm, latest)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: session %q: %w", eventlog.ErrCorrupt, i.SessionID, err)
			}
			s.row = i.Last.Seq
			out = append(out, s)
		}
		if !seq.Valid {
			continue
		}
		if e, err := event.Decode(line); err == nil {
			s.info.Add(e)
		}
		s.info.Last.Seq = seq.Int64 // also of one that cannot be read
	}
	return out, rows.Err()
}

// Sessions implements eventlog.Log. It reads the events of running turns only.
func (l *Log) Sessions(ctx context.Context) ([]eventlog.Info, error) {
	if err := l.checkOpen(ctx); err != nil {
		return nil, err
	}
	rows, err := l.readers.QueryContext(ctx, selectSessions+inOrder)
	var all []*session
	if err == nil {
		all, err = scanSessions(rows)
	}
	if err != nil {
		return nil, l.methodError(ctx, "list sessions", err)
	}
	out := make([]eventlog.Info, len(all))
	for i, s := range all {
		out[i] = s.info
	}
	slices.SortFunc(out, func(a, b eventlog.Info) int {
		return cmp.Or(b.Latest.Compare(a.Latest), strings.Compare(a.SessionID, b.SessionID))
	})
	return out, nil
}

// Session implements eventlog.Log.
func (l *Log) Session(ctx context.Context, session string) (eventlog.Info, error) {
	if err := l.checkOpen(ctx); err != nil {
		return eventlog.Info{}, err
	}
	rows, err := l.readers.QueryContext(ctx, selectSession, session)
	if err != nil {
		return eventlog.Info{}, l.methodError(ctx, "read", err)
	}
	all, err := scanSessions(rows)
	switch {
	case err != nil:
		return eventlog.Info{}, l.methodError(ctx, "read", err)
	case len(all) == 0:
		return eventlog.Info{}, fmt.Errorf("%s: %w: %q", l.path, eventlog.ErrUnknownSession, session)
	}
	return all[0].info, nil
}

const selectSnapshot = `SELECT seq, data FROM snapshots
	WHERE session = (SELECT n FROM sessions WHERE id = ?) AND kind = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`

// Snapshot implements eventlog.Log.
func (l *Log) Snapshot(ctx context.Context, session, kind string, atOrBefore int64) (seq int64, data []byte, err error) {
	if err := l.checkOpen(ctx); err != nil {
		return 0, nil, err
	}
	if l.version < 2 {
		return 0, nil, nil // opened read-only, so not migrated
	}
	err = l.readers.QueryRowContext(ctx, selectSnapshot, session, kind, atOrBefore).Scan(&seq, &data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil, nil
	case err != nil:
		return 0, nil, l.methodError(ctx, "read a snapshot", err)
	}
	return seq, data, nil
}
