package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/event"
)

// Shared configures a server that shares its log with others.
type Shared struct {
	// Leases say which server runs a session.
	Leases eventlog.Leases
	// Self is this server. Its name must be new for each process.
	Self eventlog.LeaseServer
	// TTL is how long this server may stall before others take over its sessions: 10s if
	// zero, and a second at least.
	TTL time.Duration
	// Recovery is what this server does with the sessions of a server that is gone:
	// RecoverClose if empty.
	Recovery Recovery
	// Report is called with what the server could not do, and tries again: nothing if nil.
	Report func(error)
}

// shared is the membership of a server among those that share its log. Its zero value is
// that of a server that shares it with none.
type shared struct {
	Shared
	stop    chan struct{} // closed when no session runs any more
	stopped sync.Once
	beating sync.WaitGroup
}

// Join registers the server, and takes over the sessions of servers that are gone until
// Shutdown. Call it before the server serves, and instead of Recover. A session is taken
// over at most one and a half TTL after its server was killed.
func (s *Server) Join(ctx context.Context, with Shared) error {
	with.TTL = max(cmp.Or(with.TTL, 10*time.Second), time.Second)
	if with.Report == nil {
		with.Report = func(error) {}
	}
	if _, err := with.Leases.Beat(ctx, with.Self, with.TTL); err != nil {
		return err
	}
	s.shared.Shared, s.shared.stop = with, make(chan struct{})
	s.shared.beating.Go(func() { s.renew(context.WithoutCancel(ctx)) })
	return nil
}

// renew renews the registration until no session runs any more, and takes over sessions
// until the server shuts down.
func (s *Server) renew(ctx context.Context) {
	c := &s.shared
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	takingOver := make(chan struct{}, 1)
	ticker := time.NewTicker(c.TTL / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-c.stop:
			return
		}
		limited, cancel := context.WithTimeout(ctx, c.TTL)
		renewed, err := c.Leases.Beat(limited, c.Self, c.TTL)
		switch {
		case err != nil:
			c.Report(err)
		case !renewed:
			s.claimAgain(limited)
		}
		cancel()
		if err != nil || s.isClosing() {
			continue
		}
		select {
		case takingOver <- struct{}{}: // may take longer than a registration holds
			c.beating.Go(func() {
				defer func() { <-takingOver }()
				if err := s.takeOver(ctx); err != nil && ctx.Err() == nil {
					c.Report(err)
				}
			})
		default:
		}
	}
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// leave ends the registration after the last session ended.
func (s *Server) leave(ctx context.Context) error {
	if s.shared.Leases == nil {
		return nil
	}
	s.shared.stopped.Do(func() { close(s.shared.stop) })
	s.shared.beating.Wait()
	return s.shared.Leases.Leave(ctx, s.shared.Self.Name)
}

// claimAgain claims the sessions that run here, after this server stalled, and ends those
// that another server has taken over. What they still emit is refused by the log.
func (s *Server) claimAgain(ctx context.Context) {
	s.mu.Lock()
	all := make([]*hosted, 0, len(s.hosted))
	for _, h := range s.hosted {
		all = append(all, h)
	}
	s.mu.Unlock()
	for _, h := range all {
		err := s.claimSession(ctx, h.id)
		if err != nil {
			s.shared.Report(fmt.Errorf("session %s: %w", h.id, err))
		}
		_, lost := errors.AsType[*lease.HeldError](err)
		if err == nil { // another server may have ended the session, and released it
			info, err := s.c.Log.Session(ctx, h.id)
			if err == nil {
				lost, err = s.endsWith(ctx, h.id, info.Last.Seq)
			}
			lost = lost && err == nil
		}
		if lost {
			go func() { _ = h.close(context.WithoutCancel(ctx)) }()
		}
	}
}

// claimSession claims a session for this server, or refuses it if another runs it.
func (s *Server) claimSession(ctx context.Context, id string) error {
	if s.shared.Leases == nil {
		return nil
	}
	return s.shared.Leases.Claim(ctx, id, s.shared.Self.Name)
}

// releaseSession ends the claim of a session that does not run here.
func (s *Server) releaseSession(id string) {
	if s.shared.Leases == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.shared.TTL)
	defer cancel()
	if err := s.shared.Leases.Release(ctx, id, s.shared.Self.Name); err != nil {
		s.shared.Report(fmt.Errorf("release session %s: %w", id, err))
	}
}

// finish ends the claim of a session that ended. If the log failed before it held the
// end, finish appends that first, as soon as the log takes it. If the server shuts down
// before, another server does so.
func (s *Server) finish(h *hosted) {
	if s.shared.Leases == nil {
		return
	}
	for h.logError() != nil {
		ctx, cancel := context.WithTimeout(context.Background(), s.shared.TTL)
		err := s.claimSession(ctx, h.id)
		_, held := errors.AsType[*lease.HeldError](err)
		if err == nil {
			_, err = s.closeLeftOpen(ctx, h.id)
		}
		cancel()
		if held {
			return // that server has ended it
		}
		if err == nil {
			break
		}
		select {
		case <-time.After(s.shared.TTL / 4):
		case <-s.closing:
			return
		}
	}
	s.releaseSession(h.id)
}

// releaseUnlessHosted ends the claim of a session that could not be opened.
func (s *Server) releaseUnlessHosted(id string) {
	s.mu.Lock()
	h := s.hosted[id]
	s.mu.Unlock()
	if h == nil {
		s.releaseSession(id)
	}
}

// elsewhere returns the other server that runs a session, if there is one.
func (s *Server) elsewhere(ctx context.Context, id string) (lease.Server, bool, error) {
	if s.shared.Leases == nil {
		return lease.Server{}, false, nil
	}
	holder, held, err := s.shared.Leases.Holder(ctx, id)
	return holder, held && holder.Name != s.shared.Self.Name, err
}

// endsAt reports whether a session_end at a seq is the last event of its session. It waits while
// another server holds the session: one that took it over may be about to resume it.
func (s *Server) endsAt(ctx context.Context, id string, seq int64) (bool, error) {
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for held := true; ; {
		events, err := s.c.Log.Read(ctx, id, seq-1, 2)
		if err != nil || len(events) != 1 || events[0].Type() != event.TypeSessionEnd {
			return false, err
		}
		if !held {
			return true, nil
		}
		if _, held, err = s.elsewhere(ctx, id); err != nil {
			return false, err
		}
		if !held {
			continue // read again: it may have been resumed, and have ended, meanwhile
		}
		select {
		case <-pause.C:
		case <-s.closing:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// stored returns what the log holds of a session. A session that another server opened, and
// of which no event is stored yet, has no events.
func (s *Server) stored(ctx context.Context, id string) (eventlog.Info, error) {
	info, err := s.c.Log.Session(ctx, id)
	if !errors.Is(err, eventlog.ErrUnknownSession) {
		return info, err
	}
	if _, other, holderErr := s.elsewhere(ctx, id); holderErr != nil || !other {
		return info, errors.Join(holderErr, err)
	}
	return eventlog.Info{SessionID: id}, nil
}

// takeOver ends, or resumes, the sessions of servers that are gone.
func (s *Server) takeOver(ctx context.Context) error {
	abandoned, err := s.shared.Leases.Abandoned(ctx)
	if err != nil {
		return err
	}
	// Several servers do so at once: each begins elsewhere.
	rand.Shuffle(len(abandoned), func(i, j int) { abandoned[i], abandoned[j] = abandoned[j], abandoned[i] })
	var errs []error
	for _, id := range abandoned {
		err := s.takeOverSession(ctx, id)
		if _, held := errors.AsType[*lease.HeldError](err); err != nil && !held {
			errs = append(errs, fmt.Errorf("take over session %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// takeOverSession claims a session whose server is gone, and ends or resumes it.
func (s *Server) takeOverSession(ctx context.Context, id string) error {
	if s.running(ctx, id) != nil {
		return s.claimSession(ctx, id) // this server stalled
	}
	if err := s.claimSession(ctx, id); err != nil {
		return err
	}
	defer s.releaseUnlessHosted(id)
	info, err := s.c.Log.Session(ctx, id)
	if errors.Is(err, eventlog.ErrUnknownSession) {
		return nil // its server was killed before its first event was stored
	}
	if err != nil {
		return err
	}
	_, err = s.recoverSession(ctx, info, s.shared.Recovery)
	if info, readErr := s.c.Log.Session(ctx, id); readErr == nil && s.running(ctx, id) == nil {
		run, readErr := s.storedRun(ctx, info)
		if readErr == nil {
			run.Owner, readErr = s.c.Log.Owner(ctx, id)
		}
		if readErr == nil {
			s.feed.publish(run)
		}
	}
	return err
}

// closeTries is how often closeLeftOpen reads the log.
const closeTries = 5

// closeLeftOpen calls appendClosing, again if the session's server, which stalled,
// appended meanwhile.
func (s *Server) closeLeftOpen(ctx context.Context, id string) (closed closedSession, err error) {
	for range closeTries {
		closed, err = s.appendClosing(ctx, id)
		if _, conflict := errors.AsType[*eventlog.ConflictError](err); !conflict {
			return closed, err
		}
	}
	return closed, err
}

// refuseElsewhere returns the refusal of a request for a session that another server
// runs, or nil.
func (s *Server) refuseElsewhere(ctx context.Context, id string) error {
	holder, other, err := s.elsewhere(ctx, id)
	if err != nil || !other {
		return err
	}
	return asRefusal(&lease.HeldError{Session: id, Holder: holder})
}

// refusalOfHeld returns the refusal that names the server that runs a session.
func refusalOfHeld(err *lease.HeldError) *RefusalError {
	r := refuse(http.StatusMisdirectedRequest, CodeElsewhere, "%v", err)
	r.Server = &err.Holder
	return r
}
