package sidecar

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
)

// connectAgents lets the agents of sessions send messages to each other, if the
// configuration asks for it.
func (s *Server) connectAgents() {
	if s.c.Agents == nil {
		return
	}
	c := *s.c.Agents
	c.Host = agentHost{s}
	among := c.Allowed
	c.Allowed = func(from, to string) bool {
		return s.haveOneOwner(from, to) && (among == nil || among(from, to))
	}
	hub := exchange.New(c)
	s.c.Adapters = maps.Clone(s.c.Adapters)
	for name, a := range s.c.Adapters {
		s.c.Adapters[name] = hub.Adapter(name, a)
	}
}

// haveOneOwner reports whether two sessions belong to the same user.
func (s *Server) haveOneOwner(one, other string) bool {
	first, err := s.ownerOf(context.Background(), one)
	if err != nil {
		return false
	}
	second, err := s.ownerOf(context.Background(), other)
	return err == nil && first == second
}

// agentHost runs the sessions in which agents receive messages: their events are stored,
// and clients can listen and send messages to them too.
type agentHost struct{ s *Server }

// Open implements exchange.Host.
func (a agentHost) Open(ctx context.Context, o exchange.Opening) error {
	if err := checkID(o.SessionID); err != nil {
		return err
	}
	owner, err := a.s.ownerOf(ctx, o.From)
	if err != nil {
		return err
	}
	ctx = withCaller(ctx, caller{name: owner})
	b := &opening{SessionID: o.SessionID, Runtime: o.Agent, judge: o.Judge}
	b.Params.WorkingDir, b.Params.PermissionMode = o.Dir, o.Mode
	defer a.s.releaseUnlessHosted(o.SessionID)
	err = a.s.prepareResumed(ctx, b)
	if errors.Is(err, eventlog.ErrUnknownSession) {
		err = a.s.prepareNew(ctx, b)
	}
	if err != nil {
		return err
	}
	_, _, err = a.s.openOnce(ctx, b)
	return err
}

// Send implements exchange.Host.
func (a agentHost) Send(ctx context.Context, session string, m adapters.Message) error {
	h := a.s.running(ctx, session)
	if h == nil {
		return adapters.ErrClosed
	}
	select {
	case <-a.s.closing:
		return refuse(http.StatusServiceUnavailable, CodeClosing, "the server is shutting down")
	default:
	}
	_, _, err := h.send(ctx, message{Message: &m.Text, MessageID: m.ID, Attachments: m.Attachments, Priority: m.Priority}, h.session.Send)
	return err
}
