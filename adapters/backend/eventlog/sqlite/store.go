package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// storeBatch executes requests within the transaction.
func (w *writer) storeBatch(ctx context.Context, batch []*request) error {
	var now int64
	if err := w.dataVersion.QueryRowContext(ctx).Scan(&now); err != nil {
		return err
	}
	if now != w.seen || len(w.sessions) > sessionsCached {
		clear(w.sessions) // other programs may have appended to them
		w.seen = now
	}
	for _, r := range batch {
		for _, e := range r.entries {
			if err := w.insertEvent(ctx, e); err != nil {
				if !isRefusal(err) {
					return err
				}
				r.err = err
				break
			}
		}
		if r.snapshot != nil {
			if err := w.insertSnapshot(ctx, r.snapshot); err != nil {
				if !isRefusal(err) {
					return err
				}
				r.err = err
			}
		}
		if r.medium != nil {
			if err := w.insertMedium(ctx, r.medium); err != nil {
				if !isRefusal(err) {
					return err
				}
				r.err = err
			}
		}
		if r.owner != nil {
			if err := w.insertOwner(ctx, r.owner); err != nil {
				if !isRefusal(err) {
					return err
				}
				r.err = err
			}
		}
	}
	if err := w.flushRows(ctx); err != nil {
		return err
	}
	w.rowsWritten = 0
	for _, s := range w.dirty {
		if !s.rowDue {
			continue
		}
		w.rowsWritten++
		s.rowDue, s.row = false, s.info.Last.Seq
		i := s.info
		if _, err := w.setSession.ExecContext(ctx, i.Runtime, i.ProviderSessionID, i.Title,
			i.First.Format(timeForm), i.Latest.Format(timeForm), i.Last.Seq, i.Last.Turn, s.n); err != nil {
			return err
		}
	}
	return nil
}

// isRefusal reports if the request is wrong, as opposed to a database failure.
func isRefusal(err error) bool {
	_, conflict := errors.AsType[*eventlog.ConflictError](err)
	_, gap := errors.AsType[*eventlog.GapError](err)
	return conflict || gap || errors.Is(err, eventlog.ErrUnknownSession) || errors.Is(err, eventlog.ErrOwned)
}

// loadSession returns the cached or stored state of a session, nil if it does not
// exist.
func (w *writer) loadSession(ctx context.Context, id string) (*session, error) {
	if s := w.sessions[id]; s != nil {
		return s, nil
	}
	rows, err := w.getSession.QueryContext(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := scanSessions(rows)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	w.sessions[id] = all[0]
	return all[0], nil
}

func (w *writer) insertEvent(ctx context.Context, e entry) error {
	s, err := w.loadSession(ctx, e.event.SessionID)
	if err != nil {
		return err
	}
	var last int64
	if s != nil {
		last = s.info.Last.Seq
	}
	switch seq := e.event.Seq; {
	case seq <= last:
		return w.compareStored(ctx, s, e)
	case seq > last+1:
		return &eventlog.GapError{Session: e.event.SessionID, Last: last, Seq: seq}
	}
	if s == nil {
		done, err := w.addSession.ExecContext(ctx, e.event.SessionID)
		if err != nil {
			return err
		}
		s = &session{}
		if s.n, err = done.LastInsertId(); err != nil {
			return err
		}
		w.sessions[e.event.SessionID] = s
	}
	before := s.info
	s.info.Add(e.event)
	s.rowDue = s.rowDue || s.needsRow(before, e.event)
	if !s.dirty {
		s.dirty = true
		w.dirty = append(w.dirty, s)
	}
	w.rows = append(w.rows, s.n, e.event.Seq, string(e.line))
	if len(w.rows) == 3*rowsAtOnce {
		_, err = w.insertMany.ExecContext(ctx, w.rows...)
		w.rows = w.rows[:0]
	}
	return err
}

// maxRowLag is how many events the row of a session may lack. To write it with each event would double
// what commits of many sessions write.
const maxRowLag = 64

// needsRow reports whether the row of a session is to be written with an event: while a turn runs only
// now and then, so that a list of sessions reads few events.
func (s *session) needsRow(before eventlog.Info, e event.Event) bool {
	switch e.Data.(type) {
	case event.Done, event.Error, event.SessionEnd:
		return true
	}
	before.Latest, before.Last = s.info.Latest, s.info.Last
	return before != s.info || e.Seq-s.row >= maxRowLag
}

// compareStored returns a ConflictError if another event is stored under the seq.
func (w *writer) compareStored(ctx context.Context, s *session, e entry) error {
	if err := w.flushRows(ctx); err != nil {
		return err
	}
	var stored string
	switch err := w.getEvent.QueryRowContext(ctx, s.n, e.event.Seq).Scan(&stored); {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%w: session %q has no seq %d and ends at %d", eventlog.ErrCorrupt, e.event.SessionID, e.event.Seq, s.info.Last.Seq)
	case err != nil:
		return err
	case stored != string(e.line):
		return &eventlog.ConflictError{Session: e.event.SessionID, Seq: e.event.Seq}
	}
	return nil
}

// flushRows inserts the remaining rows.
func (w *writer) flushRows(ctx context.Context) error {
	for i := 0; i < len(w.rows); i += 3 {
		if _, err := w.insertOne.ExecContext(ctx, w.rows[i:i+3]...); err != nil {
			return err
		}
	}
	w.rows = w.rows[:0]
	return nil
}

func (w *writer) insertSnapshot(ctx context.Context, p *snapshot) error {
	s, err := w.loadSession(ctx, p.session)
	if err != nil {
		return err
	}
	var last int64
	if s != nil {
		last = s.info.Last.Seq
	}
	if p.seq > last {
		return &eventlog.GapError{Session: p.session, Last: last, Seq: p.seq}
	}
	_, err = w.conn.ExecContext(ctx, `INSERT INTO snapshots (session, kind, seq, data) VALUES (?, ?, ?, ?)
		ON CONFLICT (session, kind, seq) DO UPDATE SET data = excluded.data`, s.n, p.kind, p.seq, p.data)
	return err
}
