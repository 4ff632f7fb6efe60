package sidecar

import (
	"cmp"
	"context"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// use says whether somebody uses a session. It is guarded by the mu of the session.
type use struct {
	latest    time.Time       // when it was used last
	listeners int             // streams of its events
	tasks     map[string]bool // that run in the background
	idling    bool            // it ends because it is unused
}

// noteUse notes an event of the session. The caller holds h.mu.
func (h *hosted) noteUse(e event.Event) {
	h.latest = time.Now()
	d, is := e.Data.(event.Task)
	switch {
	case !is:
	case d.Status == event.TaskRunning:
		if h.tasks == nil {
			h.tasks = map[string]bool{}
		}
		h.tasks[d.TaskID] = true
	default:
		delete(h.tasks, d.TaskID)
	}
}

// touch notes a request for the session. It reports false if the session is about to end.
func (h *hosted) touch() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.latest = time.Now()
	return !h.idling
}

// addListener counts a stream of events. The caller calls leave when it ends.
func (h *hosted) addListener() (leave func()) {
	count := func(n int) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.listeners += n
		h.latest = time.Now()
	}
	count(1)
	return func() { count(-1) }
}

// endWhenIdle ends the session when it was unused for Config.IdleAfter.
func (h *hosted) endWhenIdle() {
	limit := h.s.c.IdleAfter
	if limit <= 0 {
		return
	}
	h.touch()
	go func() {
		for wait := limit; ; {
			select {
			case <-time.After(wait):
			case <-h.ended:
				return
			}
			if wait = h.untilIdle(limit); wait <= 0 {
				_ = h.close(context.Background())
				return
			}
		}
	}()
}

// untilIdle returns how long the session must stay unused until it is idle. It is 0 if it is idle, and ends.
func (h *hosted) untilIdle(limit time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run.State == StateStreaming || h.pending > 0 || h.listeners > 0 || len(h.tasks) > 0 || len(h.run.NeedsInput) > 0 {
		return limit
	}
	left := limit - time.Since(h.latest)
	h.idling = left <= 0
	return left
}

// noteOperation notes what an operation has changed, for a resume.
func (h *hosted) noteOperation(c op.Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.body.Params.Model = cmp.Or(c.Model, h.body.Params.Model)
	h.body.Params.PermissionMode = cmp.Or(c.Mode, h.body.Params.PermissionMode)
}

// keepIdle keeps what an idle session was opened with, so that the next request can resume it.
func (s *Server) keepIdle(h *hosted) {
	h.mu.Lock()
	idle, body := h.idling, h.body
	h.mu.Unlock()
	if !idle {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle[h.id] = body
}

// isIdle reports whether the next message resumes a session.
func (s *Server) isIdle(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.idle[id]
	return is
}

// forgetIdle drops what is kept of a session, which is opened again.
func (s *Server) forgetIdle(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.idle, id)
}

// wake resumes a session that was idle. It returns nil if it was not.
func (s *Server) wake(ctx context.Context, id string) (*hosted, error) {
	s.mu.Lock()
	b, is := s.idle[id]
	s.mu.Unlock()
	if !is {
		return nil, nil
	}
	b.SessionID = id // it was recovered, if the body has none
	b.Provider, b.Params.Resume, b.Params.Fork, b.Params.At, b.Params.Unarchive = "", "", false, "", false
	defer s.releaseUnlessHosted(id)
	if err := s.prepareResumed(ctx, &b); err != nil {
		return nil, err
	}
	h, _, err := s.openOnce(ctx, &b)
	return h, err
}
