package plug

import (
	"context"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// pendingBytes is how many bytes of events a queue takes at once, and pendingTime how long
// adding one more may then take.
const (
	pendingBytes = 8 << 20
	pendingTime  = time.Second
)

// queue passes events to their reader and keeps the first protocol error. Adding an event does
// not wait for its reader, because a protocol's reader must continue to read replies while no
// reader takes events. But if the program writes faster than the reader takes, adding one waits
// for up to pendingTime, so that the memory is bounded.
type queue struct {
	events  chan event.Event
	added   chan struct{} // holds one token: pending has grown
	ended   chan struct{} // closed by Finish
	dropped chan struct{} // closed by drop
	end     sync.Once
	abandon sync.Once

	mu      sync.Mutex
	pending []event.Event
	bytes   int           // of pending
	taken   chan struct{} // closed, and replaced, when pending was taken
	err     error
}

// newQueue starts a queue. Its goroutine ends after Finish and the last event, or
// after drop.
func newQueue() *queue {
	q := &queue{events: make(chan event.Event), added: make(chan struct{}, 1), ended: make(chan struct{}), dropped: make(chan struct{}), taken: make(chan struct{})}
	go q.forward()
	return q
}

// Events implements adapters.Session.
func (q *queue) Events() <-chan event.Event { return q.events }

// Add queues an event.
func (q *queue) Add(e event.Event) {
	q.mu.Lock()
	q.pending = append(q.pending, e)
	q.bytes += e.Size()
	full, taken := q.bytes > pendingBytes, q.taken
	q.mu.Unlock()
	select {
	case q.added <- struct{}{}:
	default:
	}
	if full {
		WaitFor(context.Background(), taken, pendingTime)
	}
}

// Finish closes Events after the events that were added.
func (q *queue) Finish() { q.end.Do(func() { close(q.ended) }) }

// drop closes Events and discards what is pending.
func (q *queue) drop() {
	q.abandon.Do(func() {
		close(q.dropped)
		q.takePending()
	})
}

// recordError keeps err if it is the first one, and reports whether it is.
func (q *queue) recordError(err error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return false
	}
	q.err = err
	return true
}

// ProtocolError implements conformance.ProtocolChecker: it returns the first
// error.
func (q *queue) ProtocolError() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

func (q *queue) forward() {
	defer close(q.events)
	for {
		pending := q.takePending()
		for _, e := range pending {
			select {
			case q.events <- e:
			case <-q.dropped:
				return
			}
		}
		if len(pending) > 0 {
			continue
		}
		select {
		case <-q.added:
		case <-q.dropped:
			return
		case <-q.ended:
			if q.empty() {
				return
			}
		}
	}
}

func (q *queue) takePending() []event.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	pending := q.pending
	q.pending, q.bytes = nil, 0
	close(q.taken)
	q.taken = make(chan struct{})
	return pending
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending) == 0
}
