package session

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// outboxModel is an outbox with a ring of two events and what is known of it.
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
	case m.dropped && len(m.o.pending) > 0:
		m.problem = "pending events outlive the drop"
	case !m.dropped && depth != unread:
		m.problem = "the depth is wrong"
	case !m.dropped && unread > 0 && !oldest.Equal(m.emitTime[m.received]):
		m.problem = "the age of the oldest event is wrong"
	case !m.dropped && m.o.overflow != (unread > 2):
		m.problem = "overflow does not say whether the ring has taken all events"
	case m.ending && ended != (m.dropped || unread <= 2):
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
			m.o = newOutbox(&m.lock, 2, readAhead)
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

// TestOutboxReleasesItsArray checks that a burst does not stay in memory: the outbox
// keeps a small array, and no event in it.
func TestOutboxReleasesItsArray(t *testing.T) {
	g := NewWithT(t)
	synctest.Test(t, func(*testing.T) {
		m := &outboxModel{ended: make(chan struct{})}
		m.o = newOutbox(&m.lock, 2, readAhead)
		m.emit(1000)
		g.Expect(cap(m.o.pending)).To(BeNumerically(">", 900))
		for range 1000 {
			m.receive()
			synctest.Wait()
		}
		kept := m.o.pending[:cap(m.o.pending)]
		g.Expect(len(kept)).To(And(BeNumerically(">", 0), BeNumerically("<=", maxBuffer)))
		g.Expect(kept).To(HaveEach(event.Event{}))
	})
}
