package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// timeForm is a format whose text order is the order of the times.
const timeForm = "2006-01-02T15:04:05.000000000Z"

// transaction is one try to store a batch of requests.
type transaction struct {
	conn     *pgconn.PgConn
	sessions map[string]*session
	repeated map[place]string // stored events that the batch holds again
}

// session is the state of a session within a transaction.
type session struct {
	n      int64 // 0 if it is not stored
	info   eventlog.Info
	stored int64    // the last seq in the table
	lines  []string // new events, after stored
}

// place is where an event is stored.
type place struct{ session, seq int64 }

// store stores a batch and commits. Refusals are set in the requests.
func (t *transaction) store(ctx context.Context, batch []*request) error {
	if err := t.lockSessions(ctx, batch); err != nil {
		return err
	}
	if err := t.readRepeated(ctx, batch); err != nil {
		return err
	}
	var snapshots []*snapshot
	var media []*medium
	for _, r := range batch {
		r.err = nil
		for _, e := range r.entries {
			if r.err = t.add(e); r.err != nil {
				break
			}
		}
		if p := r.snapshot; p != nil {
			if last := t.sessions[p.session].info.Last.Seq; p.seq > last {
				r.err = &eventlog.GapError{Session: p.session, Last: last, Seq: p.seq}
			} else {
				snapshots = append(snapshots, p)
			}
		}
		if m := r.medium; m != nil {
			if t.sessions[m.session].info.Last.Seq == 0 {
				r.err = fmt.Errorf("%w: %q", eventlog.ErrUnknownSession, m.session)
			} else {
				media = append(media, m)
			}
		}
		if r.err != nil && !isRefusal(r.err) {
			return r.err
		}
	}
	if err := t.write(ctx, snapshots, media); err != nil {
		return err
	}
	_, err := t.conn.Exec(ctx, "COMMIT").ReadAll()
	return err
}

// lockSessions begins the transaction and locks the rows of the batch's sessions, in
// one order in all programs, so that transactions wait for each other without a
// deadlock.
func (t *transaction) lockSessions(ctx context.Context, batch []*request) error {
	for _, r := range batch {
		for _, e := range r.entries {
			t.sessions[e.event.SessionID] = nil
		}
		if r.snapshot != nil {
			t.sessions[r.snapshot.session] = nil
		}
		if r.medium != nil {
			t.sessions[r.medium.session] = nil
		}
	}
	ids := slices.Sorted(maps.Keys(t.sessions))
	for _, id := range ids {
		t.sessions[id] = &session{}
	}
	results, err := runAll(ctx, t.conn, []statement{
		{"BEGIN", nil},
		{`SELECT n, id, info, last_seq FROM turnspec_sessions WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE`, []any{ids}},
	})
	if err != nil {
		return err
	}
	for _, row := range results[1].Rows {
		s := t.sessions[string(row[1])]
		s.n, s.stored = numberOf(row[0]), numberOf(row[3])
		if s.info, err = decodeInfo(row[2]); err != nil {
			return err
		}
	}
	return nil
}

// decodeInfo decodes the info of a session.
func decodeInfo(b []byte) (i eventlog.Info, err error) {
	if err := json.Unmarshal(b, &i); err != nil {
		return i, fmt.Errorf("%w: info of a session: %w", eventlog.ErrCorrupt, err)
	}
	return i, nil
}

// readRepeated reads the stored events that the batch holds again.
func (t *transaction) readRepeated(ctx context.Context, batch []*request) error {
	var sessions, seqs []int64
	for _, r := range batch {
		for _, e := range r.entries {
			if s := t.sessions[e.event.SessionID]; e.event.Seq <= s.stored {
				sessions, seqs = append(sessions, s.n), append(seqs, e.event.Seq)
			}
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	t.repeated = map[place]string{}
	return query(ctx, t.conn, `SELECT session, seq, event FROM turnspec_events
		JOIN unnest($1::bigint[], $2::bigint[]) AS wanted (session, seq) USING (session, seq)`, func(row [][]byte) error {
		t.repeated[place{numberOf(row[0]), numberOf(row[1])}] = string(row[2])
		return nil
	}, sessions, seqs)
}

// add adds an event to what is written, or compares it with the one at its seq.
func (t *transaction) add(e entry) error {
	s, seq := t.sessions[e.event.SessionID], e.event.Seq
	switch last := s.info.Last.Seq; {
	case seq == last+1:
		s.info.Add(e.event)
		s.lines = append(s.lines, e.line)
		return nil
	case seq > last:
		return &eventlog.GapError{Session: e.event.SessionID, Last: last, Seq: seq}
	}
	there, found := t.repeated[place{s.n, seq}]
	if seq > s.stored {
		there, found = s.lines[seq-s.stored-1], true
	}
	switch {
	case !found:
		return fmt.Errorf("%w: session %q has no seq %d and ends at %d", eventlog.ErrCorrupt, e.event.SessionID, seq, s.stored)
	case there != e.line:
		return &eventlog.ConflictError{Session: e.event.SessionID, Seq: seq}
	}
	return nil
}

// write writes the new events, the sessions, the snapshots and the media, and notifies
// followers.
func (t *transaction) write(ctx context.Context, snapshots []*snapshot, media []*medium) error {
	var created, changed columns
	var ids, lines, hashes []string
	var seqs []int64
	for _, id := range slices.Sorted(maps.Keys(t.sessions)) {
		s := t.sessions[id]
		if len(s.lines) == 0 {
			continue
		}
		rows := &changed
		if s.n == 0 {
			rows = &created
		}
		if err := rows.add(id, s.info); err != nil {
			return err
		}
		hashes = append(hashes, hashOf(id))
		for i, line := range s.lines {
			ids, seqs, lines = append(ids, id), append(seqs, s.stored+1+int64(i)), append(lines, line)
		}
	}
	var statements []statement
	if len(lines) > 0 {
		statements = append(statements,
			statement{`INSERT INTO turnspec_sessions (id, info, latest, last_seq)
				SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) ON CONFLICT DO NOTHING RETURNING n`, created.args()},
			statement{`UPDATE turnspec_sessions s SET info = c.info, latest = c.latest, last_seq = c.last_seq
				FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS c (id, info, latest, last_seq) WHERE s.id = c.id`, changed.args()},
			statement{`INSERT INTO turnspec_events (session, seq, event) SELECT s.n, e.seq, e.event
				FROM unnest($1::text[], $2::bigint[], $3::text[]) AS e (id, seq, event) JOIN turnspec_sessions s USING (id)`, []any{ids, seqs, lines}},
		)
		for _, payload := range payloadsOf(hashes) {
			statements = append(statements, statement{`SELECT pg_notify($1, $2)`, []any{channel, payload}})
		}
	}
	for _, p := range snapshots {
		statements = append(statements, statement{`INSERT INTO turnspec_snapshots (session, kind, seq, data)
			SELECT n, $2, $3::bigint, $4::bytea FROM turnspec_sessions WHERE id = $1
			ON CONFLICT (session, kind, seq) DO UPDATE SET data = excluded.data`, []any{p.session, p.kind, p.seq, p.data}})
	}
	for _, m := range media {
		statements = append(statements, m.insert())
	}
	if len(statements) == 0 {
		return nil
	}
	results, err := runAll(ctx, t.conn, statements)
	if len(lines) > 0 && len(results) > 0 && results[0].Err == nil && len(results[0].Rows) < len(created.ids) {
		return errRaced // also if an event could not be inserted, because of it
	}
	return err
}

// columns hold the rows of sessions to write.
type columns struct {
	ids, infos, latest []string
	seqs               []int64
}

func (c *columns) add(id string, i eventlog.Info) error {
	b, err := json.Marshal(i)
	if err != nil {
		return err
	}
	c.ids, c.infos = append(c.ids, id), append(c.infos, string(b))
	c.latest, c.seqs = append(c.latest, i.Latest.Format(timeForm)), append(c.seqs, i.Last.Seq)
	return nil
}

func (c *columns) args() []any { return []any{c.ids, c.infos, c.latest, c.seqs} }
