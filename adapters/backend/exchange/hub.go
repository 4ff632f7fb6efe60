package exchange

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// Opening is a session that the hub wants.
type Opening struct {
	SessionID string
	Agent     string // the name of its adapter
	Dir       string // the sender's
	Mode      string // the sender's
	From      string // the id of the sender's session
	// Judge is the sender's, which bounds this session too: what an agent must not do it must not
	// have done by another one.
	Judge adapters.Judge
}

// Host runs the sessions. A server that stores events and claims messages implements it.
type Host interface {
	// Open opens a session of one of the hub's adapters, or resumes one that ended. It does
	// nothing if the session runs.
	Open(ctx context.Context, o Opening) error
	// Send sends a message to a session that runs.
	Send(ctx context.Context, session string, m adapters.Message) error
}

// Config configures a Hub. Zero limits take the defaults.
type Config struct {
	// Host runs the sessions. If it is nil, the hub opens sessions with the options of the
	// sender and drops their events.
	Host Host
	// Allowed, if it is set, reports whether a session may send messages to another one that runs. If
	// not, the other one is unknown to it.
	Allowed func(from, to string) bool

	Limit      time.Duration // from the call to the end of the receiver's turn: 10m
	MaxDepth   int           // messages that are sent while another is being answered, one within the other: 4
	MaxChain   int           // messages that one message of a user may lead to: 32
	MaxQueue   int           // messages that may wait for one session: 16
	MaxMessage int           // bytes of a message: 64 KiB
	MaxAnswer  int           // bytes of an answer, the rest of which is cut: 64 KiB
}

func (c Config) withDefaults() Config {
	if c.Allowed == nil {
		c.Allowed = func(_, _ string) bool { return true }
	}
	c.Limit = cmp.Or(c.Limit, 10*time.Minute)
	c.MaxDepth = cmp.Or(c.MaxDepth, 4)
	c.MaxChain = cmp.Or(c.MaxChain, 32)
	c.MaxQueue = cmp.Or(c.MaxQueue, 16)
	c.MaxMessage = cmp.Or(c.MaxMessage, 64<<10)
	c.MaxAnswer = cmp.Or(c.MaxAnswer, 64<<10)
	return c
}

// Hub carries messages between the sessions of its adapters.
type Hub struct {
	c Config

	mu       sync.Mutex
	adapters map[string]adapters.Adapter // as Adapter returned them
	sessions map[string]*session         // that run
	waits    map[*session][]*session     // receivers for which a session waits
}

// New returns a hub without adapters.
func New(c Config) *Hub {
	return &Hub{
		c: c.withDefaults(), adapters: map[string]adapters.Adapter{}, sessions: map[string]*session{}, waits: map[*session][]*session{},
	}
}

// Adapter wraps an adapter. Agents use the name to send a message to a session of it. Its
// sessions offer the tool if the adapter has client tools; they receive messages in
// any case. Wrap all adapters before a session is opened.
func (h *Hub) Adapter(name string, inner adapters.Adapter) adapters.Adapter {
	var a adapters.Adapter = &adapter{hub: h, name: name, inner: inner}
	if t, ok := inner.(adapters.Transcriber); ok {
		a = struct {
			adapters.Adapter
			adapters.Transcriber
		}{a, t}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.adapters[name] = a
	return a
}

type adapter struct {
	hub   *Hub
	name  string
	inner adapters.Adapter
}

// Capabilities implements adapters.Adapter.
func (a *adapter) Capabilities() adapters.Capabilities { return a.inner.Capabilities() }

// Open implements adapters.Adapter.
func (a *adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	o.SessionID = cmp.Or(o.SessionID, rand.Text())
	s := newSession(a.hub, a.name, o)
	if a.Capabilities().Can.Names("tools") {
		if slices.ContainsFunc(o.Tools, func(t adapters.Tool) bool { return t.Name == ToolName }) {
			return nil, &adapters.OpenError{Code: event.ErrorInvalid, Op: "tools", Err: fmt.Errorf("the tool %s is offered twice", ToolName)}
		}
		o.Tools = append(slices.Clone(o.Tools), a.hub.tool(s))
	}
	inner, err := a.inner.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	a.hub.started(s)
	s.Start(inner)
	return s, nil
}

// names returns the names of the adapters.
func (h *Hub) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.adapters))
}

// started adds a session.
func (h *Hub) started(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[s.id] = s
}

// ended removes a session.
func (h *Hub) ended(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.id] == s {
		delete(h.sessions, s.id)
	}
}

// running returns a session by its id, or nil.
func (h *Hub) running(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// allowed returns the session by its id that another one may send messages to, or nil.
func (h *Hub) allowed(from *session, id string) *session {
	if s := h.running(id); s != nil && h.c.Allowed(from.id, id) {
		return s
	}
	return nil
}

// receiver finds or opens the session that a sender names.
func (h *Hub) receiver(ctx context.Context, from *session, to string) (*session, error) {
	if s := h.allowed(from, to); s != nil {
		return s, nil
	}
	if !slices.Contains(h.names(), to) {
		return nil, refuse(CodeUnknown, "no agent and no running session is named %q: the agents are %s", to, strings.Join(h.names(), ", "))
	}
	id := from.id + "-" + to
	if s := h.allowed(from, id); s != nil {
		return s, nil
	}
	if err := h.open(ctx, Opening{SessionID: id, Agent: to, From: from.id, Dir: from.options.Dir, Mode: from.options.Mode, Judge: from.options.Judge}, from.options); err != nil {
		return nil, refuse(CodeOpen, "open session %s: %v", id, err)
	}
	s := h.allowed(from, id)
	if s == nil {
		return nil, refuse(CodeOpen, "session %s ended at once", id)
	}
	return s, nil
}

// open opens a session with the host, or without one.
func (h *Hub) open(ctx context.Context, o Opening, from adapters.Options) error {
	ctx = context.WithoutCancel(ctx) // the session outlives the call
	if h.c.Host != nil {
		return h.c.Host.Open(ctx, o)
	}
	h.mu.Lock()
	a := h.adapters[o.Agent]
	h.mu.Unlock()
	opened, err := a.Open(ctx, adapters.Options{
		Opening: op.Opening{SessionID: o.SessionID, Dir: o.Dir, Mode: o.Mode},
		Env:     from.Env, Launch: from.Launch, Limits: from.Limits, Judge: o.Judge,
	})
	if err != nil {
		return err
	}
	go func() {
		for range opened.Events() { // nobody listens
		}
	}()
	return nil
}

// send sends a message with the host, or without one.
func (h *Hub) send(ctx context.Context, to *session, m adapters.Message) error {
	if h.c.Host != nil {
		return h.c.Host.Send(ctx, to.id, m)
	}
	return to.Send(ctx, m)
}

// Close ends the sessions that run, such as those that the hub opened.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() { errs[i] = s.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// addWait notes that a session waits for another, unless that one waits for it, perhaps
// by way of others.
func (h *Hub) addWait(from, to *session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[*session]bool{}
	var reaches func(*session) bool
	reaches = func(s *session) bool {
		if s == from {
			return true
		}
		if seen[s] {
			return false
		}
		seen[s] = true
		return slices.ContainsFunc(h.waits[s], reaches)
	}
	if reaches(to) {
		return refuse(CodeCycle, "session %s waits for this one: answer it first, or send without wait", to.id)
	}
	h.waits[from] = append(h.waits[from], to)
	return nil
}

func (h *Hub) removeWait(from, to *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.waits[from], to); i >= 0 {
		h.waits[from] = slices.Delete(h.waits[from], i, i+1)
	}
	if len(h.waits[from]) == 0 {
		delete(h.waits, from)
	}
}
