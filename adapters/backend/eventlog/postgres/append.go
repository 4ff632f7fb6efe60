package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// request is an append, a snapshot or a medium that waits for its commit.
type request struct {
	entries  []entry
	snapshot *snapshot
	medium   *medium
	bytes    int
	err      error
	done     chan error
}

type entry struct {
	event event.Event
	line  string
}

type snapshot struct {
	session, kind string
	seq           int64
	data          []byte
}

var errNUL = errors.New("session_id: PostgreSQL stores no text with a zero byte")

// Append implements eventlog.Log.
func (l *Log) Append(ctx context.Context, events ...event.Event) error {
	if err := l.checkOpen(ctx); err != nil {
		return err
	}
	r := &request{entries: make([]entry, len(events)), done: make(chan error, 1)}
	for i, e := range events {
		line, err := eventlog.Encode(e)
		if err != nil {
			return err
		}
		if strings.ContainsRune(e.SessionID, 0) {
			return &eventlog.InvalidError{Session: e.SessionID, Seq: e.Seq, Err: errNUL}
		}
		r.entries[i] = entry{e, string(line)}
		r.bytes += len(line)
	}
	return l.sendToWriter(ctx, r)
}

// PutSnapshot implements eventlog.Log.
func (l *Log) PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error {
	if err := l.checkOpen(ctx); err != nil {
		return err
	}
	if err := eventlog.CheckSnapshot(session, seq, kind); err != nil {
		return err
	}
	if strings.ContainsRune(session+kind, 0) {
		return fmt.Errorf("snapshot %q of session %q: PostgreSQL stores no text with a zero byte", kind, session)
	}
	// Copied, because the caller may return before the writer has stored it.
	kept := &snapshot{session, kind, seq, append([]byte{}, data...)}
	return l.sendToWriter(ctx, &request{snapshot: kept, bytes: len(data), done: make(chan error, 1)})
}

func (l *Log) sendToWriter(ctx context.Context, r *request) error {
	select {
	case l.writer.requests <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.closing:
		return eventlog.ErrClosed
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Expire deletes the sessions whose last event is from before a time, with their
// snapshots, media and owners, and returns how many there were. It leaves out those that a server has
// claimed. If another program records one of them without a claim, its next append is
// refused with a GapError.
func (l *Log) Expire(ctx context.Context, before time.Time) (sessions int, err error) {
	err = l.withReader(ctx, "expire", func(ctx context.Context, c *pgconn.PgConn) error {
		return query(ctx, c, `WITH gone AS (DELETE FROM turnspec_sessions s WHERE latest < $1
			AND NOT EXISTS (SELECT FROM turnspec_claims c WHERE c.session = s.id) RETURNING id),
			owners AS (DELETE FROM turnspec_owners WHERE session IN (SELECT id FROM gone))
			SELECT count(*) FROM gone`,
			func(row [][]byte) error {
				sessions = int(numberOf(row[0]))
				return nil
			}, before.UTC().Format(timeForm))
	})
	return sessions, err
}
