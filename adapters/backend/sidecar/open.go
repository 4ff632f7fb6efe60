package sidecar

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/event"
)

// prepareNew returns an error if the log holds the session already.
func (s *Server) prepareNew(ctx context.Context, b *opening) error {
	b.After.Seq = 0 // its log is empty
	if !b.Params.Fork {
		b.After.Turn = 0
	}
	if b.Provider != "" && !b.Params.Fork {
		return refuse(http.StatusBadRequest, CodeInvalid, "the body: provider_session_id continues a session: POST /sessions/%s/resume, or params.fork for a new one with its history", b.SessionID)
	}
	b.owner = callerOf(ctx).name
	if err := s.checkProvider(ctx, b.Provider); err != nil {
		return err
	}
	if err := s.claimSession(ctx, b.SessionID); err != nil {
		if _, held := errors.AsType[*lease.HeldError](err); held && s.checkOwner(ctx, b.SessionID) != nil {
			return refuseTaken(b.SessionID)
		}
		return err
	}
	info, err := s.c.Log.Session(ctx, b.SessionID)
	switch {
	case err == nil && s.checkOwner(ctx, b.SessionID) != nil:
		return refuseTaken(b.SessionID)
	case err == nil && s.running(ctx, b.SessionID) == nil:
		r := refuse(http.StatusConflict, CodeExists, "session %q exists: resume it, or choose another id", b.SessionID)
		r.LastSeq = info.Last.Seq
		return r
	case err != nil && !errors.Is(err, eventlog.ErrUnknownSession):
		return err
	}
	return nil
}

// prepareResumed adds what the log holds of a session, and closes what it leaves open.
func (s *Server) prepareResumed(ctx context.Context, b *opening) error {
	if err := cmp.Or(s.checkProvider(ctx, b.Provider), s.checkOwner(ctx, b.SessionID)); err != nil {
		return err
	}
	owner, err := s.ownerOf(ctx, b.SessionID)
	if err != nil {
		return err
	}
	b.owner = owner
	info, err := s.c.Log.Session(ctx, b.SessionID)
	if errors.Is(err, eventlog.ErrUnknownSession) && b.Provider != "" { // the runtime has it
		b.After = event.Position{}
		return errors.Join(checkID(b.SessionID), s.claimSession(ctx, b.SessionID))
	}
	if err != nil {
		return cmp.Or(s.refuseElsewhere(ctx, b.SessionID), err)
	}
	if h := s.running(ctx, b.SessionID); h == nil {
		if err := s.claimSession(ctx, b.SessionID); err != nil {
			return err
		}
		closed, err := s.closeLeftOpen(ctx, b.SessionID)
		if err != nil {
			return err
		}
		info.Last = closed.last
		b.Params.WorkingDir, b.Params.PermissionMode = cmp.Or(b.Params.WorkingDir, closed.dir), cmp.Or(b.Params.PermissionMode, closed.mode)
	}
	b.After = event.Position{Seq: info.Last.Seq, Turn: max(info.Last.Turn, b.After.Turn)}
	b.Runtime = cmp.Or(b.Runtime, info.Runtime)
	if b.Provider = cmp.Or(b.Provider, info.ProviderSessionID); b.Provider == "" {
		return refuse(http.StatusConflict, CodeRefused, "the log does not hold the runtime's id of session %q: its first turn did not begin", b.SessionID)
	}
	return nil
}

// openOnce opens a session, or returns the one that runs already.
func (s *Server) openOnce(ctx context.Context, b *opening) (h *hosted, repeated bool, err error) {
	if b.Runtime == "" && len(s.c.Adapters) == 1 {
		for name := range s.c.Adapters {
			b.Runtime = name
		}
	}
	a := s.c.Adapters[b.Runtime]
	if a == nil {
		return nil, false, refuse(http.StatusBadRequest, CodeInvalid, "runtime %q is not served: use one of %s", b.Runtime, strings.Join(slices.Sorted(maps.Keys(s.c.Adapters)), ", "))
	}
	if a, err = s.withComponents(a, b.Params.Components); err != nil {
		return nil, false, err
	}
	o := b.options(s.c)
	if err := s.continueSession(ctx, &o, b); err != nil {
		return nil, false, err
	}
	h, err = s.reserve(b.SessionID, b.Runtime)
	if err != nil {
		if h != nil && s.running(ctx, h.id) == h && h.runtime == b.Runtime && s.checkOwner(ctx, h.id) == nil {
			return h, true, nil
		}
		return nil, false, err
	}
	// Claimed again, because a session of this id that ended meanwhile released it.
	if err = s.claimSession(ctx, b.SessionID); err == nil {
		// A log without room refuses it here, before the session runs.
		err = s.c.Log.PutOwner(ctx, b.SessionID, b.owner)
	}
	if err != nil {
		if errors.Is(err, eventlog.ErrOwned) {
			err = refuseTaken(b.SessionID)
		}
		close(h.ready)
		s.release(h)
		return nil, false, err
	}
	s.setOwner(h, b.owner)
	h.body = *b
	s.forgetIdle(b.SessionID)
	h.calls.offer(&o, b.Params.Tools, b.Params.Hooks)
	h.heartbeat = b.heartbeat(s.c.Heartbeat)
	// The session outlives the request.
	return h, false, h.open(context.WithoutCancel(ctx), a, o)
}
