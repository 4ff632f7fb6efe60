package conformance

import (
	"time"

	"github.com/turnspec/turnspec/adapters"
)

// Backlogger is a Session that reports its backlog: how many events wait for the
// listener, and how long the oldest has waited.
type Backlogger interface {
	Backlog() (depth int, oldest time.Duration)
}

// backlogOf is what a session reports; depth -1: it reports nothing.
func backlogOf(sess Session) (depth int, oldest time.Duration) {
	if x, ours := sess.(adapterSession); ours {
		if _, reports := x.s.(adapters.Backlogger); !reports {
			return -1, 0
		}
	}
	if b, ok := sess.(Backlogger); ok {
		return b.Backlog()
	}
	return -1, 0
}

// SlowPause is how long, in virtual time, a slow listener takes nothing.
const PauseLength = 30 * time.Second

// Slowed is what was seen of a subject whose listener took nothing for SlowPause.
type ListenerPause struct {
	Unread int // bytes that the runtime has said and the subject had not read when the pause was over
	// What the subject reported then, and when it was all over; Depth -1: it
	// reports nothing.
	Depth  int
	Oldest time.Duration
	After  int
}

// pause keeps the listener from taking events, once, from the place of the harm
// on, and notes what became of the subject.
func (d *director) pause(sess Session) {
	h := d.run.Fault
	if h == nil || !h.SlowListener || !d.reached(h.Line) {
		return
	}
	d.mu.Lock()
	first := d.run.ListenerPause == nil
	if first {
		d.run.ListenerPause = &ListenerPause{Depth: -1, After: -1}
	}
	d.mu.Unlock()
	if !first || d.stage.unread() < 0 {
		return
	}
	time.Sleep(PauseLength)
	seen := ListenerPause{Unread: d.stage.unread(), After: -1}
	seen.Depth, seen.Oldest = backlogOf(sess)
	d.mu.Lock()
	d.run.ListenerPause = &seen
	d.mu.Unlock()
}

// caughtUp notes what is left of a backlog before the session is closed.
func (d *director) caughtUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run.ListenerPause != nil {
		d.run.ListenerPause.After, _ = backlogOf(d.sess)
	}
}
