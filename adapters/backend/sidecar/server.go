package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/event"
)

// Agents configures the tool by which the agents of sessions send messages to each other.
type Agents = exchange.Config

// Config configures a Server.
type Config struct {
	// Adapters are the runtimes that sessions may be opened on, by name.
	Adapters map[string]adapters.Adapter
	// Log stores the events. The server does not close it.
	Log eventlog.Log
	// Agents, if it is set, lets the agents of sessions send messages to each other with the
	// tool agents_message. Its Host is this server.
	Agents *Agents
	// Base holds the options of each session. A request sets the session's id, its
	// folder, mode, model, MCP servers and limits.
	Base adapters.Options

	// Prepare, if it is set, is called before a session opens or is resumed, with its runtime and its options,
	// which it may change. It may prepare the folder. If it returns an error, the session is refused.
	Prepare func(runtime string, o *adapters.Options) error

	// Presets are judges by the names that params.toolPreset may have. That of a session holds
	// beside Base.Judge: the stricter verdict counts.
	Presets map[string]adapters.Judge
	// ReadPolicy, if it is set, reads params.policy. The judge that it returns holds beside the others, as a
	// preset does.
	ReadPolicy func(policy event.Raw) (adapters.Judge, error)

	// MediaFailed, if it is set, is called for each image, sound or document that cannot be
	// stored. Its event is stored all the same.
	MediaFailed func(session string, m event.Media, err error)
	// LogFailed, if it is set, is called when the log does not take the events of a session: after
	// a minute if it was locked, after an hour if it was full. The session ends, and so do the
	// streams of its listeners.
	LogFailed func(session string, err error)
	// LogFull, if it is set, is called when the log has no room for the events of a session, and with nil
	// when it has room again. Until then new sessions and messages are refused with the code full.
	LogFull func(err error)
	// LogUnavailable, if it is set, is called with the error of the log for which a request is refused
	// with the code log or full. The answer says only what kind it is.
	LogUnavailable func(err error)

	// Token is what requests must present. Who does uses the sessions of everybody. "" is no token, and
	// without Users none is demanded.
	Token string
	// Users, if it is set, have tokens of their own, and each uses only the sessions that it has opened.
	Users *Users

	Hosts   []string // names by which the server is reached, besides those of loopback
	Origins []string // origins of pages that may use the server, besides its own

	Heartbeat    time.Duration // between comments in a stream: 15s
	MaxLag       time.Duration // how late a live event may reach a listener: 30s
	WriteTimeout time.Duration // how long one write to a listener may block: 30s
	BodyTimeout  time.Duration // how long a client may take to send a request's body: 30s
	MaxBody      int64         // bytes of a request's body: 1 MiB; 16 times that of one with a whole chat
	// StopAfter is how long a turn goes on after the client that began it with a POST to /api/chat
	// or /ag-ui closed the stream of the answer: 3s. In this time it may come back.
	StopAfter time.Duration
	// IdleAfter, if it is set, is how long a session may be unused until its runtime is ended: no turn, task or
	// request is open, and its events have no listener. The next request for the session resumes it.
	IdleAfter    time.Duration
	MaxListeners int // open streams: 10,000
	MaxSessions  int // sessions that run at once: 1,000
	// MaxUnauthorized is how many connections Serve keeps that have not presented the token:
	// 256.
	MaxUnauthorized int
}

func (c Config) withDefaults() Config {
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.MaxLag = cmp.Or(c.MaxLag, 30*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 30*time.Second)
	c.StopAfter = cmp.Or(c.StopAfter, 3*time.Second)
	if c.LogFull == nil {
		c.LogFull = func(error) {}
	}
	if c.LogUnavailable == nil {
		c.LogUnavailable = func(error) {}
	}
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxListeners = cmp.Or(c.MaxListeners, 10_000)
	c.MaxSessions = cmp.Or(c.MaxSessions, 1_000)
	c.MaxUnauthorized = cmp.Or(c.MaxUnauthorized, 256)
	return c
}

// Server serves sessions. It is an http.Handler.
type Server struct {
	c       Config
	handler http.Handler
	feed    feed
	shared  shared
	room    room
	closing chan struct{} // closed by Shutdown
	drained chan struct{} // closed after it, when no stream is open

	mu      sync.Mutex
	idle    map[string]opening // sessions that ended because they were unused
	hosted  map[string]*hosted // sessions that run or are being opened
	streams int                // that are open
	closed  bool
}

// New returns a server.
func New(c Config) *Server {
	s := &Server{c: c.withDefaults(), hosted: map[string]*hosted{}, closing: make(chan struct{}), drained: make(chan struct{}), idle: map[string]opening{}}
	s.room = room{waiting: map[*hosted]bool{}, changed: s.c.LogFull}
	s.connectAgents()
	s.handler = s.guard(s.routes())
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Shutdown ends all sessions, gently, and then the streams: listeners receive the last
// events. From its call on, new sessions and messages are refused. It returns when
// nothing of the server runs any more, or when ctx is done.
func (s *Server) Shutdown(ctx context.Context) error {
	return errors.Join(s.endSessions(ctx), s.waitForStreams(ctx))
}

// endSessions refuses new sessions and messages, and ends all sessions.
func (s *Server) endSessions(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
		if s.streams == 0 {
			close(s.drained)
		}
	}
	all := slices.Collect(maps.Values(s.hosted))
	s.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, h := range all {
		wg.Go(func() {
			if err := h.close(ctx); err != nil {
				errs[i] = fmt.Errorf("session %s: %w", h.id, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), s.leave(ctx))
}

// waitForStreams waits until no stream is open, after endSessions.
func (s *Server) waitForStreams(ctx context.Context) error {
	select {
	case <-s.drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// addStream counts a stream. The caller calls release when it ends.
func (s *Server) addStream() (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, refuse(http.StatusServiceUnavailable, CodeClosing, "the server is shutting down")
	case s.streams == s.c.MaxListeners:
		return nil, refuse(http.StatusServiceUnavailable, CodeTooMany, "%d listeners are connected already", s.streams)
	}
	s.streams++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.streams--; s.closed && s.streams == 0 {
			close(s.drained)
		}
	}, nil
}

// reserve claims a session's id, so that two equal requests open one session.
func (s *Server) reserve(id, runtime string) (*hosted, error) {
	full := s.room.refuseIfFull()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, refuse(http.StatusServiceUnavailable, CodeClosing, "the server is shutting down")
	case s.hosted[id] != nil:
		return s.hosted[id], refuse(http.StatusConflict, CodeExists, "session %q runs already", id)
	case full != nil:
		return nil, full
	case len(s.hosted) >= s.c.MaxSessions:
		return nil, refuse(http.StatusServiceUnavailable, CodeTooMany, "%d sessions run already: end one, or raise the limit", len(s.hosted))
	}
	h := &hosted{s: s, id: id, runtime: runtime, ready: make(chan struct{}), ended: make(chan struct{}), claims: map[string]*claim{}}
	s.hosted[id] = h
	return h, nil
}

// release forgets a session that ended or could not be opened.
func (s *Server) release(h *hosted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosted[h.id] == h {
		delete(s.hosted, h.id)
	}
}

// running returns a session that runs here, or nil. It waits until one that is being
// opened has been.
func (s *Server) running(ctx context.Context, id string) *hosted {
	s.mu.Lock()
	h := s.hosted[id]
	s.mu.Unlock()
	if h == nil {
		return nil
	}
	select {
	case <-h.ready:
	case <-ctx.Done():
		return nil
	}
	if h.session == nil {
		return nil
	}
	return h
}
