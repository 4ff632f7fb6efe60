package session

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// ringSize is how many events the session emits ahead of its listener. The reader
// pauses when the ring is full, so that backpressure reaches the wire. A burst of
// lines wakes the listener once, and not once for each event.
const ringSize = 768

// readAhead bounds the events that are read ahead of the listener while a caller waits
// for a reply. Reading must go on because that caller may be the listener.
const readAhead = 1024

// outbox hands events to the listener in order. Emitted events are collected until
// flush moves them to the ring, a buffered channel. If the ring is full, a goroutine
// waits for the listener in place of the session.
//
// Its methods are called with the lock held.
type outbox struct {
	lock    sync.Locker
	changed *sync.Cond // the ring took all events, or the listener was dropped

	ring    chan event.Event
	times   []int64       // the time of each event of the ring, by its number
	sent    atomic.Int64  // events that the ring has taken since the beginning
	pending []event.Event // events that the ring has not taken, oldest first
	buffer  []event.Event // the empty start of the array that pending uses again

	maxAhead int           // bounds the events that are read ahead for a waiting caller
	overflow bool          // a goroutine moves pending events to the ring
	dropped  bool          // the listener was dropped
	quit     chan struct{} // closed when dropped
}

// maxBuffer bounds the array that an outbox keeps while no event waits. The lines that
// are handled together rarely need a larger one, as most of them emit one event.
const maxBuffer = 2 * maxBatch

// newOutbox returns an outbox with a ring of size events.
func newOutbox(lock sync.Locker, size, maxAhead int) *outbox {
	return &outbox{lock: lock, maxAhead: maxAhead, changed: sync.NewCond(lock), ring: make(chan event.Event, size), times: make([]int64, size), quit: make(chan struct{})}
}

// add collects an event until the next flush.
func (o *outbox) add(e event.Event) {
	if o.dropped {
		return
	}
	before := o.pending
	o.pending = append(o.pending, e)
	if cap(o.pending) == cap(before) {
		return
	}
	clear(before) // the old array may be used again, and must not keep events alive
	if cap(o.pending) > cap(o.buffer) && cap(o.pending) <= maxBuffer {
		o.buffer = o.pending[:0]
	}
}

// flush moves the collected events to the ring as far as it has room.
func (o *outbox) flush() {
	if o.overflow || o.dropped {
		return
	}
	if o.moveToRing(); len(o.pending) > 0 {
		o.overflow = true
		go o.waitForListener()
	}
}

// moveToRing moves events until the ring is full. Nothing else sends to the ring
// meanwhile.
func (o *outbox) moveToRing() {
	n := 0
	for n < len(o.pending) && len(o.ring) < cap(o.ring) {
		o.noteTime(&o.pending[n])
		o.ring <- o.pending[n]
		o.sent.Add(1)
		n++
	}
	o.removeFirst(n)
}

// noteTime records the time of the event that is sent next.
func (o *outbox) noteTime(e *event.Event) {
	o.times[o.sent.Load()%int64(len(o.times))] = e.TS.UnixNano()
}

// removeFirst removes the first n pending events.
func (o *outbox) removeFirst(n int) {
	clear(o.pending[:n])
	if o.pending = o.pending[n:]; len(o.pending) == 0 {
		o.pending = o.buffer
	}
}

// waitForListener moves pending events to the full ring when the listener makes
// room. It returns when none is left.
func (o *outbox) waitForListener() {
	o.lock.Lock()
	defer o.lock.Unlock()
	for len(o.pending) > 0 {
		next := o.pending[0]
		o.lock.Unlock()
		select {
		case o.ring <- next:
			o.lock.Lock()
			if !o.dropped {
				o.noteTime(&next)
				o.sent.Add(1)
				o.removeFirst(1)
				o.moveToRing()
			}
		case <-o.quit:
			o.lock.Lock()
		}
	}
	o.overflow = false
	o.changed.Broadcast()
}

// drop discards the pending events and all later ones. The listener may still receive
// what the ring holds.
func (o *outbox) drop() {
	if o.dropped {
		return
	}
	o.dropped = true
	close(o.quit)
	o.removeFirst(len(o.pending))
	o.changed.Broadcast()
}

// finish waits until the ring has taken all events, or until the listener is
// dropped, and closes the ring. The listener still receives what the ring holds.
func (o *outbox) finish() {
	o.flush()
	for o.overflow {
		o.changed.Wait()
	}
	close(o.ring)
}

// backlog returns how many events the listener has not received, and the time of
// the oldest of them.
func (o *outbox) backlog() (depth int, oldest time.Time) {
	held := len(o.ring)
	switch depth = o.depth(); {
	case held > 0:
		oldest = time.Unix(0, o.times[max(0, o.sent.Load()-int64(held))%int64(len(o.times))])
	case depth > 0:
		oldest = o.pending[0].TS
	}
	return depth, oldest
}

// depth returns how many events the listener has not received.
func (o *outbox) depth() int { return len(o.ring) + len(o.pending) }

// received returns how many events the listener has received. It needs no lock.
func (o *outbox) received() int64 { return o.sent.Load() - int64(len(o.ring)) }
