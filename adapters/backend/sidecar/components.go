package sidecar

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// withComponents returns an adapter whose agents can show the components that a session is opened with.
func (s *Server) withComponents(a adapters.Adapter, definition event.Raw) (adapters.Adapter, error) {
	if definition == nil {
		return a, nil
	}
	reg, err := component.Parse(definition)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, CodeInvalid, "the body: params.components: %v", err)
	}
	return component.Adapter(a, reg, component.WithHistory(s.eventsOf)), nil
}

// eventsOf returns the stored events of a session that is resumed.
func (s *Server) eventsOf(ctx context.Context, o adapters.Options) (all []event.Event, err error) {
	for e, err := range eventlog.All(ctx, s.c.Log, o.SessionID, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq > o.After.Seq {
			break
		}
		all = append(all, e)
	}
	return all, nil
}

// componentsOf returns the running session of a request, if it was opened with components.
func (s *Server) componentsOf(r *http.Request) (*hosted, component.Session, error) {
	h, err := s.of(r)
	if err != nil {
		return nil, nil, err
	}
	c, is := adapters.As[component.Session](h.session)
	if !is {
		return nil, nil, refuse(http.StatusNotImplemented, CodeUnsupported, "session %q was opened without params.components", h.id)
	}
	return h, c, nil
}

// callback forwards an action of the user in a component to the agent.
func (s *Server) callback(w http.ResponseWriter, r *http.Request) error {
	h, c, err := s.componentsOf(r)
	if err != nil {
		return err
	}
	var b struct {
		component.Callback
		MessageID string `json:"message_id"`
	}
	if err := readBody(r, &b); err != nil {
		return err
	}
	id := cmp.Or(b.MessageID, rand.Text())
	_, repeated, err := h.send(context.WithoutCancel(r.Context()), message{MessageID: id}, func(ctx context.Context, m adapters.Message) error {
		return asInvalid(c.Callback(ctx, m.ID, b.Callback))
	})
	if err != nil {
		return err
	}
	out, status := map[string]any{"ok": true, "message_id": id}, http.StatusAccepted
	if repeated {
		out["repeated"], status = true, http.StatusOK
	}
	answer(w, status, out)
	return nil
}

// state answers with the shared state.
func (s *Server) state(w http.ResponseWriter, r *http.Request) error {
	_, c, err := s.componentsOf(r)
	if err != nil {
		return err
	}
	state, err := c.State(r.Context())
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, state)
	return nil
}

// changeState changes the shared state on behalf of the user.
func (s *Server) changeState(w http.ResponseWriter, r *http.Request) error {
	_, c, err := s.componentsOf(r)
	if err != nil {
		return err
	}
	var change component.Change
	if err := readBody(r, &change); err != nil {
		return err
	}
	state, err := c.UpdateState(context.WithoutCancel(r.Context()), change)
	if conflict, is := errors.AsType[*component.ConflictError](err); is {
		return refuse(http.StatusConflict, CodeStaleState, "%v", conflict)
	}
	if err != nil {
		return asInvalid(err)
	}
	answer(w, http.StatusOK, state)
	return nil
}

// asInvalid returns the refusal for what the registry of the session does not allow. Errors of adapters
// stay as they are.
func asInvalid(err error) error {
	if err == nil || asRefusal(err).Code != CodeRefused || errors.Is(err, adapters.ErrRefused) {
		return err
	}
	return refuse(http.StatusBadRequest, CodeInvalid, "the body: %v", err)
}
