package session

import (
	"github.com/turnspec/turnspec/adapters/event"
)

const correct = "-" // no fault: the outbox itself

// handoverFaults are the faults of a brokenOutbox and of its use: a plan in which the fault
// has a problem in some order, and the problem.
var handoverFaults = map[string]struct{ plan, problem string }{
	"":                                   {"a listener that is dropped", ""}, // the copies in this file are right
	"does not wait for room":             {"a listener that receives", "events wait: more than"},
	"a command does not wake the reader": {"a listener that calls", "a deadlock"},
	"loses the first event after the ring wraps": {"a listener that receives", "was received as number"},
	"forgets to flush a single event":            {"a listener that receives", "events wait, and no goroutine moves them"},
	"flushes past its goroutine":                 {"a listener that receives", "was received as number"},
	"does not wake the reader":                   {"a listener that receives", "a deadlock"},
	"makes room without waking the reader":       {"a timer", "the reader pauses, and there is room"},
	"does not see a drop while it sends":         {"a listener that is dropped", "it panics"},
	"sends an event twice":                       {"a listener that receives", "was received as number"},
	"holds the lock while it sends":              {"a listener that calls", "a deadlock"},
	"leaves before all is sent":                  {"a listener that receives", "events wait, and no goroutine moves them"},
	"keeps its events when dropped":              {"a listener that is dropped", "pending events outlive the drop"},
	"does not end its goroutine when dropped":    {"a listener that goes away", "a deadlock"},
	"closes the ring before all is sent":         {"a listener that receives", "it panics"},
}

// brokenOutbox is an outbox with a fault.
type brokenOutbox struct {
	*outbox
	fault    string
	added    int
	panicked any
}

func (b *brokenOutbox) add(e event.Event) {
	if b.added++; b.fault != "loses the first event after the ring wraps" || b.added != cap(b.ring)+1 {
		b.outbox.add(e)
	}
}

func (b *brokenOutbox) flush() {
	if b.dropped {
		return
	}
	if b.fault == "forgets to flush a single event" && b.pending.length == 1 {
		return
	}
	if !b.overflow || b.fault == "flushes past its goroutine" {
		if b.moveToRing(); b.pending.length > 0 && !b.overflow {
			b.overflow = true
			go b.waitForListener()
		}
	}
	if tooMany := b.depth() > b.limits.unread; tooMany || b.fault == "makes room without waking the reader" {
		b.full = tooMany
	}
}

func (b *brokenOutbox) waitForListener() {
	held := false
	defer func() {
		if p := recover(); p != nil {
			b.panicked = p
			if !held {
				b.lock.Lock()
			}
			b.overflow = false
			b.changed.Broadcast()
			b.lock.Unlock()
		}
	}()
	b.lock.Lock()
	held = true
	for b.pending.length > 0 {
		next := *b.pending.oldest()
		if b.fault != "holds the lock while it sends" {
			held = false
			b.lock.Unlock()
		}
		select {
		case b.ring <- next:
			if !held {
				b.lock.Lock()
				held = true
			}
			if !b.dropped || b.fault == "does not see a drop while it sends" {
				if b.noteSent(&next); b.fault != "sends an event twice" {
					b.pending.removeOldest()
				}
				if b.fault != "leaves before all is sent" {
					b.moveToRing()
				}
				if b.fault != "does not wake the reader" {
					b.wakeReader()
				}
			}
		case <-b.quit:
			if !held {
				b.lock.Lock()
				held = true
			}
		}
		if b.fault == "leaves before all is sent" {
			break
		}
	}
	b.overflow = false
	if b.fault != "does not wake the reader" {
		b.changed.Broadcast()
	}
	b.lock.Unlock()
}

func (b *brokenOutbox) drop() {
	switch b.fault {
	case "keeps its events when dropped":
		b.dropped, b.full = true, false
		close(b.quit)
		b.changed.Broadcast()
	case "does not end its goroutine when dropped":
		b.dropped, b.full = true, false
		b.pending.clear()
		b.changed.Broadcast()
	default:
		b.outbox.drop()
	}
}

func (b *brokenOutbox) finish() {
	b.flush()
	for b.overflow && b.fault != "closes the ring before all is sent" {
		b.changed.Wait()
	}
	close(b.ring)
}
