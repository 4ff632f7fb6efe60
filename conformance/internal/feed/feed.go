// Package feed answers one question: how do the events of a subject outside this
// program come to who reads them?
//
// What a transport hears of it is added, in its order, and never holds the
// transport up: it must go on reading replies while nobody takes an event. The
// first mistake of the subject is kept too; what it says after that means
// nothing.
package feed

import (
	"sync"

	"github.com/turnspec/turnspec/adapters/event"
)

// Feed is the events of a session, and its first mistake. A transport's session
// embeds one: Events and Broken are methods of a conformance.Session and a
// conformance.Breaker.
type Feed struct {
	events chan event.Event
	more   chan struct{} // holds one: the queue has grown
	over   chan struct{} // closed by Finish
	gone   chan struct{} // closed by Drop
	end    sync.Once
	drop   sync.Once

	mu    sync.Mutex
	queue []event.Event
	fault error
}

// New makes a feed. It lives until Finish and the last event, or until Drop.
func New() *Feed {
	f := &Feed{events: make(chan event.Event), more: make(chan struct{}, 1), over: make(chan struct{}), gone: make(chan struct{})}
	go f.forward()
	return f
}

// Events is closed after the last event.
func (f *Feed) Events() <-chan event.Event { return f.events }

// Add adds an event. It never waits.
func (f *Feed) Add(e event.Event) {
	f.mu.Lock()
	f.queue = append(f.queue, e)
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// Finish says that no event is added any more. Those that were come still.
func (f *Feed) Finish() { f.end.Do(func() { close(f.over) }) }

// Drop says that nobody reads any more.
func (f *Feed) Drop() { f.drop.Do(func() { close(f.gone) }) }

// Blame notes a mistake, unless there is one, and reports whether it was the
// first.
func (f *Feed) Blame(mistake error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != nil {
		return false
	}
	f.fault = mistake
	return true
}

// Broken is the first mistake, or nil.
func (f *Feed) ProtocolError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

func (f *Feed) forward() {
	defer close(f.events)
	for {
		queue := f.take()
		for _, e := range queue {
			select {
			case f.events <- e:
			case <-f.gone:
				return
			}
		}
		if len(queue) > 0 {
			continue
		}
		select {
		case <-f.more:
		case <-f.gone:
			return
		case <-f.over:
			if !f.waits() {
				return
			}
		}
	}
}

func (f *Feed) take() []event.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	queue := f.queue
	f.queue = nil
	return queue
}

func (f *Feed) waits() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.queue) > 0
}
