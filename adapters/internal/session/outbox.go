package session

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// maxUnread is how many events the session emits ahead of its listener. The reader
// pauses when there are more, so that backpressure reaches the wire.
const maxUnread = 768

// ringSize is how many of them the ring holds. Each session has its ring from its
// beginning, so it is small. The ring has room for the events of most batches of lines:
// such a batch wakes the listener once, and not once for each event.
const ringSize = maxBatch

// readAhead bounds the events that are read ahead of the listener while a caller waits
// for a reply. Reading must go on because that caller may be the listener.
const readAhead = 1024

// outbox hands events to the listener in order. Emitted events are collected until
// flush moves them to the ring, a buffered channel. If the ring is full, a goroutine
// waits for the listener in place of the session. Meanwhile the session may go on, until
// it is too far ahead of the listener.
//
// Its methods are called with the lock held.
type outbox struct {
	lock    sync.Locker
	changed *sync.Cond // full or overflow is false again, or the listener was dropped

	ring    chan event.Event
	times   []int64      // the time of each event of the ring, by its number
	sent    atomic.Int64 // events that the ring has taken since the beginning
	pending queue        // events that the ring has not taken

	limits   outboxLimits
	overflow bool          // a goroutine moves pending events to the ring
	full     bool          // more than limits.unread events were not received: the reader pauses
	dropped  bool          // the listener was dropped
	quit     chan struct{} // closed when dropped
}

// outboxLimits bound how many events the listener has not received.
type outboxLimits struct {
	ring   int // what the ring has room for
	unread int // the reader pauses when there are more; not less than ring
	ahead  int // what is read ahead for a waiting caller
}

// sessionLimits are the limits of the outbox of a session.
var sessionLimits = outboxLimits{ring: ringSize, unread: maxUnread, ahead: readAhead}

// newOutbox returns an empty outbox.
func newOutbox(lock sync.Locker, l outboxLimits) *outbox {
	return &outbox{lock: lock, limits: l, changed: sync.NewCond(lock), ring: make(chan event.Event, l.ring), times: make([]int64, l.ring), quit: make(chan struct{})}
}

// add collects an event until the next flush.
func (o *outbox) add(e event.Event) {
	if !o.dropped {
		o.pending.push(&e)
	}
}

// flush moves the collected events to the ring as far as it has room.
func (o *outbox) flush() {
	if o.dropped {
		return
	}
	if !o.overflow {
		if o.moveToRing(); o.pending.length > 0 {
			o.overflow = true
			go o.waitForListener()
		}
	}
	if o.depth() > o.limits.unread {
		o.full = true
	}
}

// moveToRing moves events until the ring is full. Nothing else sends to the ring
// meanwhile.
func (o *outbox) moveToRing() {
	for o.pending.length > 0 && len(o.ring) < cap(o.ring) {
		next := o.pending.oldest()
		o.ring <- *next
		o.noteSent(next)
		o.pending.removeOldest()
	}
}

// noteSent counts an event that the ring has taken and records its time.
func (o *outbox) noteSent(e *event.Event) {
	o.times[o.sent.Load()%int64(len(o.times))] = e.TS.UnixNano()
	o.sent.Add(1)
}

// waitForListener moves pending events to the full ring when the listener makes
// room. It returns when none is left.
func (o *outbox) waitForListener() {
	o.lock.Lock()
	defer o.lock.Unlock()
	for o.pending.length > 0 {
		next := *o.pending.oldest()
		o.lock.Unlock()
		select {
		case o.ring <- next:
			o.lock.Lock()
			if !o.dropped {
				o.noteSent(&next)
				o.pending.removeOldest()
				o.moveToRing()
				o.wakeReader()
			}
		case <-o.quit:
			o.lock.Lock()
		}
	}
	o.overflow = false
	o.changed.Broadcast()
}

// wakeReader lets the reader go on if the listener has received enough.
func (o *outbox) wakeReader() {
	if o.full && o.depth() <= o.limits.unread {
		o.full = false
		o.changed.Broadcast()
	}
}

// drop discards the pending events and all later ones. The listener may still receive
// what the ring holds.
func (o *outbox) drop() {
	if o.dropped {
		return
	}
	o.dropped = true
	close(o.quit)
	o.pending.clear()
	o.full = false
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
		oldest = o.pending.oldest().TS
	}
	return depth, oldest
}

// depth returns how many events the listener has not received.
func (o *outbox) depth() int { return len(o.ring) + o.pending.length }

// received returns how many events the listener has received. It needs no lock.
func (o *outbox) received() int64 { return o.sent.Load() - int64(len(o.ring)) }
