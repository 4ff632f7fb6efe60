package session

import (
	"sync"

	"github.com/turnspec/turnspec/adapters/event"
)

// queue holds events in chunks. It takes the chunks from a pool and returns them when
// they are empty, so that only a session with pending events holds memory for them.
// The zero queue is empty.
type queue struct {
	first, last *chunk
	head        int // where the oldest event is in first
	tail        int // how many events were put into last
	length      int
}

// chunkSize is how many events a chunk has room for: most batches of lines need one chunk.
const chunkSize = maxBatch

type chunk struct {
	next   *chunk
	events [chunkSize]event.Event
}

// emptyChunks holds chunks without events for all sessions.
var emptyChunks = sync.Pool{New: func() any { return new(chunk) }}

// push adds the newest event.
func (q *queue) push(e *event.Event) {
	switch {
	case q.length == 0:
		q.first = emptyChunks.Get().(*chunk)
		q.last = q.first
	case q.tail == chunkSize:
		q.last.next = emptyChunks.Get().(*chunk)
		q.last, q.tail = q.last.next, 0
	}
	q.last.events[q.tail] = *e
	q.tail++
	q.length++
}

// oldest returns the oldest event. The queue must not be empty. The event is valid until
// removeOldest.
func (q *queue) oldest() *event.Event { return &q.first.events[q.head] }

// removeOldest removes the oldest event. The queue must not be empty.
func (q *queue) removeOldest() {
	*q.oldest() = event.Event{} // an empty chunk keeps no event alive
	q.head++
	if q.length--; q.length > 0 && q.head < chunkSize {
		return
	}
	empty := q.first
	q.first, q.head = empty.next, 0
	if q.length == 0 {
		*q = queue{}
	}
	empty.next = nil
	emptyChunks.Put(empty)
}

// clear removes all events.
func (q *queue) clear() {
	for q.length > 0 {
		q.removeOldest()
	}
}
