package session

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// modelLimits are the limits of an outboxModel: small, so that few steps reach them.
var modelLimits = outboxLimits{ring: 2, unread: 4, ahead: readAhead}

// outboxModel is an outbox with modelLimits and what is known of it.
type outboxModel struct {
	lock     sync.Mutex
	o        *outbox
	emitted  int64
	emitTime []time.Time
	received int64
	dropped  bool
	ending   bool
	ended    chan struct{} // finish has returned
	problem  string
}

// outboxSteps are the steps that TestOutboxInEveryOrder puts in every order.
var outboxSteps = []func(m *outboxModel){
	func(m *outboxModel) { m.emit(1) },
	func(m *outboxModel) { m.emit(4) },
	(*outboxModel).receive,
	func(m *outboxModel) { // drop
		m.lock.Lock()
		defer m.lock.Unlock()
		m.o.drop()
		m.dropped = true
	},
	func(m *outboxModel) { // finish
		if m.ending {
			return
		}
		m.ending = true
		go func() {
			m.lock.Lock()
			defer m.lock.Unlock()
			m.o.finish()
			close(m.ended)
		}()
	},
}

func (m *outboxModel) emit(n int) {
	if m.ending {
		return // nothing is emitted after the end
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	for range n {
		if !m.dropped {
			m.emitted++
			m.emitTime = append(m.emitTime, time.Now())
		}
		m.o.add(event.Event{Seq: m.emitted, TS: time.Now()})
	}
	m.o.flush()
}

func (m *outboxModel) receive() {
	select {
	case e, open := <-m.o.ring:
		if open {
			if m.received++; e.Seq != m.received {
				m.problem = "an event is lost, repeated or out of order"
			}
			return
		}
		if m.received < m.emitted && !m.dropped {
			m.problem = "the ring is closed and events are missing"
		}
	default:
		if m.received < m.emitted && !m.dropped {
			m.problem = "no event can be received, but some were not"
		}
	}
}

// check compares the outbox with the model when all goroutines wait.
func (m *outboxModel) check() {
	m.lock.Lock()
	defer m.lock.Unlock()
	unread := int(m.emitted - m.received)
	depth, oldest := m.o.backlog()
	ended := false
	select {
	case <-m.ended:
		ended = true
	default:
	}
	switch {
	case m.dropped && m.o.pending.length > 0:
		m.problem = "pending events outlive the drop"
	case !m.dropped && depth != unread:
		m.problem = "the depth is wrong"
	case !m.dropped && unread > 0 && !oldest.Equal(m.emitTime[m.received]):
		m.problem = "the age of the oldest event is wrong"
	case !m.dropped && m.o.overflow != (unread > modelLimits.ring):
		m.problem = "overflow does not say whether the ring has taken all events"
	case m.o.full != (!m.dropped && unread > modelLimits.unread):
		m.problem = "full does not say whether too many events are unread"
	case m.ending && ended != (m.dropped || unread <= modelLimits.ring):
		m.problem = "finish returns too early or too late"
	}
}

// TestOutboxInEveryOrder runs all sequences of six steps of session and listener, and
// compares the outbox with a model after each step.
func TestOutboxInEveryOrder(t *testing.T) {
	length := 6
	if racesample.Enabled {
		length = 4 // one goroutine runs at a time
	}
	sequences := 1
	for range length {
		sequences *= len(outboxSteps)
	}
	synctest.Test(t, func(t *testing.T) {
		for n := range sequences {
			m := &outboxModel{ended: make(chan struct{})}
			m.o = newOutbox(&m.lock, modelLimits)
			var steps []int
			for range length {
				step := n % len(outboxSteps)
				n /= len(outboxSteps)
				steps = append(steps, step)
				time.Sleep(time.Millisecond) // so that events have different times
				outboxSteps[step](m)
				synctest.Wait()
				if m.check(); m.problem != "" {
					t.Fatalf("steps %v: %s", steps, m.problem)
				}
			}
			for range m.emitted + 1 { // the listener receives the rest
				m.receive()
				synctest.Wait()
			}
			outboxSteps[3](m)
			outboxSteps[4](m)
			<-m.ended
			if m.problem != "" {
				t.Fatalf("steps %v, then everything is received: %s", steps, m.problem)
			}
		}
	})
}

// TestOutboxReleasesItsMemory checks that a burst does not stay in memory: the outbox holds
// its ring and nothing else when no event waits, and no event is in what it released.
func TestOutboxReleasesItsMemory(t *testing.T) {
	g := NewWithT(t)
	var released []*chunk
	synctest.Test(t, func(*testing.T) {
		m := &outboxModel{ended: make(chan struct{})}
		m.o = newOutbox(&m.lock, modelLimits)
		m.emit(1000)
		for c := m.o.pending.first; c != nil; c = c.next {
			released = append(released, c)
		}
		for range 1000 {
			m.receive()
			synctest.Wait()
		}
		g.Expect(m.o.pending).To(Equal(queue{}))
	})
	g.Expect(len(released)).To(BeNumerically(">=", 1000/chunkSize))
	for _, c := range released {
		g.Expect(*c).To(Equal(chunk{}))
	}
}

// TestIdleOutboxesAreSmall measures what outboxes hold that no event waits in, also after a
// flood.
func TestIdleOutboxesAreSmall(t *testing.T) {
	const outboxes, maxBytes = 500, 10_000
	heap := func() int64 {
		for range 3 { // pools lose what they hold in two collections
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	sessions := make([]*Session, outboxes)
	for n := range sessions {
		sessions[n] = newOutboxSession()
	}
	opened := heap()
	var listeners sync.WaitGroup
	for _, s := range sessions {
		s.lock.Lock()
		for range maxUnread {
			s.outbox.add(event.Event{})
		}
		s.outbox.flush()
		s.lock.Unlock()
		listeners.Go(func() {
			for range maxUnread {
				<-s.outbox.ring
			}
		})
	}
	listeners.Wait()
	for _, s := range sessions {
		s.lock.Lock()
		for s.outbox.overflow {
			s.outbox.changed.Wait()
		}
		s.lock.Unlock()
	}
	flooded := heap()
	runtime.KeepAlive(sessions)
	g := NewWithT(t)
	g.Expect((opened-before)/outboxes).To(BeNumerically("<", maxBytes), "before an event")
	g.Expect((flooded-before)/outboxes).To(BeNumerically("<", maxBytes), "after a flood")
	t.Logf("an outbox holds %d bytes before an event, and %d after a flood", (opened-before)/outboxes, (flooded-before)/outboxes)
}
