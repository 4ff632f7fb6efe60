// Package wake answers one question: when is there something new to read of a
// session?
package wake

import "sync"

// Board holds the channels that readers of sessions wait on. Its zero value is
// ready for use.
type Board struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
	closed  chan struct{}
}

// On returns a channel that the next Wake of the session closes.
func (b *Board) On(session string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		return b.closed
	}
	c := b.waiting[session]
	if c == nil {
		if b.waiting == nil {
			b.waiting = map[string]chan struct{}{}
		}
		c = make(chan struct{})
		b.waiting[session] = c
	}
	return c
}

// Wake wakes who waits on a session.
func (b *Board) Wake(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.waiting[session]; c != nil {
		close(c)
		delete(b.waiting, session)
	}
}

// All wakes everybody.
func (b *Board) All() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all()
}

func (b *Board) all() {
	for session, c := range b.waiting {
		close(c)
		delete(b.waiting, session)
	}
}

// Close wakes everybody, now and for ever.
func (b *Board) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all()
	if b.closed == nil {
		b.closed = make(chan struct{})
		close(b.closed)
	}
}
