package perform

import (
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// PauseLength is how long, in virtual time, a slow listener takes no event.
const PauseLength = 30 * time.Second

// pauseListener keeps the listener from taking events, once, if the fault wants a
// slow listener and its line was played. It records the state of the subject at the
// end of the pause.
func (d *director) pauseListener(sess adapters.Session) {
	f := d.run.Fault
	if f == nil || !f.SlowListener || !d.linePlayed(f.Line) {
		return
	}
	d.mu.Lock()
	first := d.run.ListenerPause == nil
	if first {
		d.run.ListenerPause = &conformance.ListenerPause{Depth: -1, After: -1}
	}
	d.mu.Unlock()
	if !first || d.env.unreadBytes() < 0 {
		return
	}
	time.Sleep(PauseLength)
	pause := conformance.ListenerPause{Unread: d.env.unreadBytes(), After: -1}
	pause.Depth, pause.Oldest = backlog(sess)
	d.mu.Lock()
	d.run.ListenerPause = &pause
	d.mu.Unlock()
}

// recordBacklog records the remaining backlog before the session is closed.
func (d *director) recordBacklog() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run.ListenerPause != nil {
		d.run.ListenerPause.After, _ = backlog(d.sess)
	}
}

// backlog returns what a session reports of its backlog; depth -1: it reports none.
func backlog(sess adapters.Session) (depth int, oldest time.Duration) {
	if b, ok := adapters.As[adapters.Backlogger](sess); ok {
		return b.Backlog()
	}
	return -1, 0
}

// blockListener keeps the listener from taking events until the session was
// closed, if the fault wants that and its line was played.
func (d *director) blockListener() {
	if f := d.run.Fault; f != nil && f.ListenerBlocked && d.linePlayed(f.Line) {
		select {
		case <-d.closed:
		case <-d.aborted:
		}
	}
}
