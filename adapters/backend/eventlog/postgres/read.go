package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// mostEvents limits a page, because the server adds up the sizes of the events of one.
const mostEvents = 4096

// selectPage reads the sizes of large events without the events.
const selectPage = `SELECT seq, event FROM (
		SELECT seq, event, sum(octet_length(event)) OVER (ORDER BY seq) AS size FROM (
			SELECT seq, event FROM turnspec_events WHERE session = (SELECT n FROM turnspec_sessions WHERE id = $1) AND seq > $2 ORDER BY seq LIMIT $3
		) AS page
	) AS sized WHERE size <= $4 OR seq = $2 + 1 ORDER BY seq`

// Read implements eventlog.Log. If an event is missing from the table, it returns an
// *eventlog.UnreadableError too.
func (l *Log) Read(ctx context.Context, session string, after int64, limit int) (out []event.Event, err error) {
	if limit <= 0 {
		limit = eventlog.PageEvents
	}
	limit = min(limit, mostEvents)
	after = max(after, 0)
	var seqs []int64
	var lines [][]byte
	err = l.withReader(ctx, "read", func(ctx context.Context, c *pgconn.PgConn) error {
		seqs, lines = nil, nil
		return query(ctx, c, selectPage, func(row [][]byte) error {
			seqs, lines = append(seqs, numberOf(row[0])), append(lines, bytes.Clone(row[1]))
			return nil
		}, session, after, int64(limit), int64(eventlog.PageBytes))
	})
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		e, bad := decodeEvent(session, after+1+int64(i), seqs[i], line)
		switch {
		case bad == nil:
			out = append(out, e)
			continue
		case i > 0:
			return out, nil // the next Read returns bad
		}
		return nil, bad
	}
	return out, nil
}

// decodeEvent decodes the event in a row. next is the seq that it should have.
func decodeEvent(session string, next, seq int64, line []byte) (event.Event, *eventlog.UnreadableError) {
	e, err := event.Decode(line)
	switch {
	case seq != next:
		return e, &eventlog.UnreadableError{Session: session, Seq: seq - 1, Err: fmt.Errorf("events from seq %d on are missing", next)}
	case err != nil:
		return e, &eventlog.UnreadableError{Session: session, Seq: seq, Err: err}
	case e.Seq != seq || e.SessionID != session:
		return e, &eventlog.UnreadableError{Session: session, Seq: seq, Err: fmt.Errorf("it holds seq %d of session %q", e.Seq, e.SessionID)}
	}
	return e, nil
}

// Follow implements eventlog.Log. While the server is away, it waits.
func (l *Log) Follow(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error] {
	key := hashOf(session)
	tail := eventlog.Tail(ctx, after,
		func() <-chan struct{} { return l.changes.Changed(key) },
		func(after int64) ([]event.Event, error) {
			for {
				page, err := l.Read(ctx, session, after, 0)
				if !errors.Is(err, eventlog.ErrBusy) {
					return page, err
				}
			}
		})
	return func(yield func(event.Event, error) bool) {
		l.watch.Do(func() { l.running.Go(l.listen) })
		tail(yield)
	}
}

// Sessions implements eventlog.Log. It reads no events.
func (l *Log) Sessions(ctx context.Context) (out []eventlog.Info, err error) {
	return l.readInfos(ctx, "list sessions", `SELECT info FROM turnspec_sessions ORDER BY latest DESC, id`)
}

// Session implements eventlog.Log.
func (l *Log) Session(ctx context.Context, session string) (eventlog.Info, error) {
	infos, err := l.readInfos(ctx, "read", `SELECT info FROM turnspec_sessions WHERE id = $1`, session)
	switch {
	case err != nil:
		return eventlog.Info{}, err
	case len(infos) == 0:
		return eventlog.Info{}, fmt.Errorf("%s: %w: %q", l.name, eventlog.ErrUnknownSession, session)
	}
	return infos[0], nil
}

func (l *Log) readInfos(ctx context.Context, op, sql string, args ...any) (out []eventlog.Info, err error) {
	err = l.withReader(ctx, op, func(ctx context.Context, c *pgconn.PgConn) error {
		out = nil
		return query(ctx, c, sql, func(row [][]byte) error {
			i, err := decodeInfo(row[0])
			out = append(out, i)
			return err
		}, args...)
	})
	return out, err
}

// Snapshot implements eventlog.Log.
func (l *Log) Snapshot(ctx context.Context, session, kind string, atOrBefore int64) (seq int64, data []byte, err error) {
	err = l.withReader(ctx, "read a snapshot", func(ctx context.Context, c *pgconn.PgConn) error {
		seq, data = 0, nil
		r := c.ExecParams(ctx, `SELECT int8send(seq), data FROM turnspec_snapshots
			WHERE session = (SELECT n FROM turnspec_sessions WHERE id = $1) AND kind = $2 AND seq <= $3 ORDER BY seq DESC LIMIT 1`,
			[][]byte{[]byte(session), []byte(kind), fmt.Append(nil, atOrBefore)}, nil, nil, []int16{formatBinary}).Read()
		if len(r.Rows) == 1 {
			for _, b := range r.Rows[0][0] {
				seq = seq<<8 | int64(b)
			}
			data = r.Rows[0][1]
		}
		return r.Err
	})
	return seq, data, err
}
