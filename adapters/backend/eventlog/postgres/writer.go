package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Limits of one transaction. The request that exceeds them is still included.
const (
	commitEvents = 4096
	commitBytes  = 4 << 20
)

// commitTimeout limits one try of a transaction, in case the network swallows it.
const commitTimeout = 30 * time.Second

// writer is the state of the goroutine that writes.
type writer struct {
	log      *Log
	conn     *pgconn.PgConn
	requests chan *request // unbuffered: a request that was sent will be answered
}

// commitRequests commits requests until the log is closed.
func (w *writer) commitRequests() {
	defer func() {
		if w.conn != nil {
			_ = closeConn(w.conn)
		}
	}()
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
			case r := <-w.requests: // queued during the last commit
				batch = append(batch, r)
				events += len(r.entries)
				bytes += r.bytes
			default:
				break gather
			}
		}
		changed, err := w.commitBatch(batch)
		for _, session := range changed {
			w.log.changes.Notify(hashOf(session))
		}
		for _, r := range batch {
			if err != nil {
				r.err = err
			}
			r.done <- r.err
		}
		clear(batch)
	}
}

// commitBatch stores requests in one transaction. A refused request gets its own error;
// the returned error applies to all of them. It returns the sessions that have new
// events.
func (w *writer) commitBatch(batch []*request) (changed []string, err error) {
	var t *transaction
	err = w.log.retry(context.Background(), func() (err error) {
		ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
		defer cancel()
		if w.conn, err = w.log.openConn(ctx, w.conn, w.log.config); err != nil {
			return err
		}
		t = &transaction{conn: w.conn, sessions: map[string]*session{}}
		if err = t.store(ctx, batch); err == nil {
			return nil
		}
		if !w.conn.IsClosed() {
			if _, undone := w.conn.Exec(ctx, "ROLLBACK").ReadAll(); undone != nil {
				_ = closeConn(w.conn)
			}
		}
		return err
	})
	if err != nil {
		return nil, w.log.explainError("append", err)
	}
	for _, id := range slices.Sorted(maps.Keys(t.sessions)) {
		if len(t.sessions[id].lines) > 0 {
			changed = append(changed, id)
		}
	}
	return changed, nil
}
