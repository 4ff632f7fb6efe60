package sqlite

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// queue holds the requests that wait for a commit. There is no goroutine for commits: a caller that finds
// none running commits its request, together with those that wait by then. If the processors are busy,
// waking another goroutine and being woken by it takes longer than the commit.
type queue struct {
	mu         sync.Mutex
	waiting    []*request
	committing bool
	closed     bool
	idle       chan struct{} // closed after the last commit of a closed queue
}

// sendToWriter waits until a request is committed, or ctx is done.
func (l *Log) sendToWriter(ctx context.Context, r *request) error {
	if l.writer == nil {
		return fmt.Errorf("%s: append: %w: it was opened for reading only", l.path, eventlog.ErrReadOnly)
	}
	// A commit may wait for other programs. A caller that may leave before its end cannot do it.
	r.stays = ctx.Done() == nil
	r.done, r.turn = make(chan error, 1), make(chan struct{}, 1)
	q := &l.writer.queue
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return eventlog.ErrClosed
	}
	q.waiting = append(q.waiting, r)
	if !q.committing {
		q.committing = true
		q.begin(l.writer)
	}
	q.mu.Unlock()
	select {
	case err := <-r.done:
		return err
	case <-r.turn:
		l.writer.commitNext()
		return <-r.done
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *request) bool { return other == r }) // unless its commit has begun
	return ctx.Err()
}

// begin lets the next commit begin, in the goroutine of its first request if that stays. The caller holds
// the lock.
func (q *queue) begin(w *writer) {
	if first := q.waiting[0]; first.stays {
		first.turn <- struct{}{}
		return
	}
	go w.commitNext()
}

// take returns the requests of the next commit, and their bytes. There is none if its caller has left.
func (q *queue) take(batch []*request) (_ []*request, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, events := 0, 0
	for ; n < len(q.waiting) && (n == 0 || events < commitEvents && bytes < commitBytes); n++ {
		events += len(q.waiting[n].entries)
		bytes += q.waiting[n].bytes
	}
	batch = append(batch[:0], q.waiting[:n]...)
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch, bytes
}

// ended is called after a commit.
func (q *queue) ended(w *writer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.waiting) > 0:
		q.begin(w)
	default:
		q.committing = false
		if q.closed {
			close(q.idle)
		}
	}
}

// close refuses further requests, and waits until the others are committed.
func (q *queue) close() {
	q.mu.Lock()
	q.closed, q.idle = true, make(chan struct{})
	if !q.committing {
		close(q.idle)
	}
	q.mu.Unlock()
	<-q.idle
}
