package sidecar

import (
	"context"
	"errors"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// How a stream reads the log again after an error: as long as a recorder tries to append.
const (
	readAgainFirst = 50 * time.Millisecond
	readAgainMost  = 2 * time.Second
	readAgainFor   = time.Minute
)

// outage tracks the reads of the log that failed for one stream since the last that did not.
// The stream goes on when the log can be read again: another program may hold the lock of a
// file, or a database may restart.
type outage struct {
	since time.Time
	pause time.Duration
}

// next returns how long to wait after a read that failed with err. It returns false if no
// other read will succeed, or if they have failed for too long.
func (o *outage) next(err error) (time.Duration, bool) {
	for _, forGood := range []error{
		eventlog.ErrClosed, eventlog.ErrCorrupt, eventlog.ErrNotLog, eventlog.ErrNewer, eventlog.ErrUnknownSession,
	} {
		if errors.Is(err, forGood) {
			return 0, false
		}
	}
	if o.since.IsZero() {
		o.since, o.pause = time.Now(), readAgainFirst
		return o.pause, true
	}
	o.pause = min(2*o.pause, readAgainMost)
	return o.pause, time.Since(o.since) < readAgainFor
}

// wait waits before the next read. It returns false if there will be none.
func (o *outage) wait(ctx context.Context, err error) bool {
	pause, again := o.next(err)
	if !again {
		return false
	}
	select {
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}

// waitWithHeartbeat is like wait, and sends the comments that are due meanwhile.
func (o *outage) waitWithHeartbeat(ctx context.Context, err error, st *stream, heartbeat <-chan time.Time) bool {
	pause, again := o.next(err)
	if !again {
		return false
	}
	for over := time.After(pause); ; {
		select {
		case <-over:
			return true
		case <-heartbeat:
			if st.heartbeat() != nil {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
}

// readOn calls read, which follows the log until ctx is done, again after each error that
// passes. read reports whether it read anything.
func readOn(ctx context.Context, read func() (some bool, err error)) {
	var o outage
	for {
		some, err := read()
		if some {
			o = outage{}
		}
		if err == nil || !o.wait(ctx, err) {
			return
		}
	}
}

// endsWith reports whether the event of a session at a seq is its session_end.
func (s *Server) endsWith(ctx context.Context, id string, seq int64) (bool, error) {
	events, err := s.c.Log.Read(ctx, id, seq-1, 1)
	return len(events) == 1 && events[0].Type() == event.TypeSessionEnd, err
}

// isLast reports whether a session_end is the last event of its session, so that
// nothing follows until somebody resumes it. If the log does not say, it is: a listener that
// comes back receives what follows.
func (s *Server) isLast(ctx context.Context, e event.Event) bool {
	if h := s.running(ctx, e.SessionID); h != nil && h.from >= e.Seq {
		return false // it was resumed, and its first event is not stored yet
	}
	var failed outage
	for {
		last, err := s.endsAt(ctx, e.SessionID, e.Seq)
		if err == nil {
			return last
		}
		if !failed.wait(ctx, err) {
			return true
		}
	}
}
