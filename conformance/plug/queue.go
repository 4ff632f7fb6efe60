package plug

import (
	"sync"

	"github.com/turnspec/turnspec/adapters/event"
)

// queue passes events to their reader and keeps the first protocol error. Adding
// an event never blocks, because a protocol's reader must continue to read replies
// while no reader takes events.
type queue struct {
	events  chan event.Event
	added   chan struct{} // holds one token: pending has grown
	ended   chan struct{} // closed by Finish
	dropped chan struct{} // closed by drop
	end     sync.Once
	abandon sync.Once

	mu      sync.Mutex
	pending []event.Event
	err     error
}

// newQueue starts a queue. Its goroutine ends after Finish and the last event, or
// after drop.
func newQueue() *queue {
	q := &queue{events: make(chan event.Event), added: make(chan struct{}, 1), ended: make(chan struct{}), dropped: make(chan struct{})}
	go q.forward()
	return q
}

// Events implements adapters.Session.
func (q *queue) Events() <-chan event.Event { return q.events }

// Add queues an event. It never blocks.
func (q *queue) Add(e event.Event) {
	q.mu.Lock()
	q.pending = append(q.pending, e)
	q.mu.Unlock()
	select {
	case q.added <- struct{}{}:
	default:
	}
}

// Finish closes Events after the events that were added.
func (q *queue) Finish() { q.end.Do(func() { close(q.ended) }) }

// drop closes Events and discards what is pending.
func (q *queue) drop() { q.abandon.Do(func() { close(q.dropped) }) }

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
	q.pending = nil
	return pending
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.pending) == 0
}
