package perform

import (
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// backlogOf is what a session reports; depth -1: it reports nothing.
func backlogOf(sess conformance.Session) (depth int, oldest time.Duration) {
	if x, ours := sess.(conformance.AdapterSession); ours {
		if _, reports := adapters.As[adapters.Backlogger](x.S); !reports {
			return -1, 0
		}
	}
	if b, ok := sess.(conformance.Backlogger); ok {
		return b.Backlog()
	}
	return -1, 0
}

// SlowPause is how long, in virtual time, a slow listener takes nothing.
const PauseLength = 30 * time.Second

// pause keeps the listener from taking events, once, from the place of the harm
// on, and notes what became of the subject.
func (d *director) pause(sess conformance.Session) {
	h := d.run.Fault
	if h == nil || !h.SlowListener || !d.reached(h.Line) {
		return
	}
	d.mu.Lock()
	first := d.run.ListenerPause == nil
	if first {
		d.run.ListenerPause = &conformance.ListenerPause{Depth: -1, After: -1}
	}
	d.mu.Unlock()
	if !first || d.stage.unread() < 0 {
		return
	}
	time.Sleep(PauseLength)
	seen := conformance.ListenerPause{Unread: d.stage.unread(), After: -1}
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
