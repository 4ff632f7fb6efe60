package sidecar

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// waitsForRoom is how long a session waits while the log is full. Its events wait in memory, and
// the runtime waits if they are too many.
const waitsForRoom = time.Hour

// room tracks the sessions whose events wait because the log is full.
type room struct {
	changed func(error) // called with why the log takes no events, and with nil when it does again

	mu      sync.Mutex
	waiting map[*hosted]bool
	err     error // of the first of them
	since   time.Time
	ended   int // sessions that ended because their events could not be stored
}

// waits notes that a session waits for the log, or with nil that it does no more.
func (r *room) waits(h *hosted, err error) {
	if err != nil && !errors.Is(err, eventlog.ErrFull) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.waiting)
	if err == nil {
		delete(r.waiting, h)
	} else {
		r.waiting[h] = true
	}
	switch after := len(r.waiting); {
	case before == 0 && after > 0:
		r.err, r.since = err, time.Now()
		r.changed(err)
	case before > 0 && after == 0:
		r.err, r.since = nil, time.Time{}
		r.changed(nil)
	}
}

// refuseIfFull returns the refusal of what would make events while the log is full, or nil.
func (r *room) refuseIfFull() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		return nil
	}
	return refuse(http.StatusInsufficientStorage, CodeFull, "the event log has been full since %s: try again when there is space", r.since.UTC().Format(time.RFC3339))
}

// metrics answers in Prometheus' text format.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) error {
	s.mu.Lock()
	sessions, streams, idle := slices.Collect(maps.Values(s.hosted)), s.streams, len(s.idle)
	s.mu.Unlock()
	turns, asking, events, oldest := 0, 0, 0, time.Duration(0)
	for _, h := range sessions {
		run := h.state()
		if run.State == StateStreaming {
			turns++
		}
		if len(run.NeedsInput) > 0 {
			asking++
		}
		depth, age := h.backlog()
		events, oldest = events+depth, max(oldest, age)
	}
	s.room.mu.Lock()
	full, waiting, ended := 0, len(s.room.waiting), s.room.ended
	if s.room.err != nil {
		full = 1
	}
	s.room.mu.Unlock()
	var out bytes.Buffer
	for _, m := range []struct {
		name, kind, help string
		value            any
	}{
		{"turnspec_sessions", "gauge", "Sessions that run on this server.", len(sessions)},
		{"turnspec_turns", "gauge", "Turns that run.", turns},
		{"turnspec_sessions_need_input", "gauge", "Sessions in which a request waits for the user.", asking},
		{"turnspec_sessions_idle", "gauge", "Sessions whose runtime was ended because they were unused.", idle},
		{"turnspec_streams", "gauge", "Streams that are open to listeners.", streams},
		{"turnspec_log_full", "gauge", "1 while the event log has no room, else 0.", full},
		{"turnspec_log_waiting_sessions", "gauge", "Sessions whose events wait because the event log is full.", waiting},
		{"turnspec_log_waiting_events", "gauge", "Events that are not stored yet.", events},
		{"turnspec_log_waiting_seconds", "gauge", "How long the oldest of them has waited.", oldest.Seconds()},
		{"turnspec_log_failed_sessions_total", "counter", "Sessions that ended because their events could not be stored.", ended},
	} {
		fmt.Fprintf(&out, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = out.WriteTo(w) // the client may be gone
	return nil
}
