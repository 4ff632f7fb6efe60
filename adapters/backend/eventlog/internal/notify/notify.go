// Package notify wakes the readers of a session when it changes.
package notify

import "sync"

// Notifier holds the channels that readers of sessions wait on. Its zero value
// is ready for use.
type Notifier struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
	closed  chan struct{}
}

// Changed returns a channel that the next Notify of the session closes.
func (n *Notifier) Changed(session string) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed != nil {
		return n.closed
	}
	c := n.waiting[session]
	if c == nil {
		if n.waiting == nil {
			n.waiting = map[string]chan struct{}{}
		}
		c = make(chan struct{})
		n.waiting[session] = c
	}
	return c
}

// Notify wakes the readers of a session.
func (n *Notifier) Notify(session string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c := n.waiting[session]; c != nil {
		close(c)
		delete(n.waiting, session)
	}
}

// NotifyAll wakes the readers of every session.
func (n *Notifier) NotifyAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for session, c := range n.waiting {
		close(c)
		delete(n.waiting, session)
	}
}

// Close wakes all readers. From then on Changed returns a closed channel.
func (n *Notifier) Close() {
	n.mu.Lock()
	if n.closed == nil {
		n.closed = make(chan struct{})
		close(n.closed)
	}
	n.mu.Unlock()
	n.NotifyAll()
}
