package sidecar

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/page"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/strict"
	"github.com/turnspec/turnspec/adapters/op"
)

// handlers returns the handlers of the routes, by their patterns. Those with the id of a session are called
// only for sessions that the caller may use; the others must see to it.
func (s *Server) handlers() map[string]func(http.ResponseWriter, *http.Request) error {
	return map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                            s.page,
		"GET /health":                         s.health,
		"GET /metrics":                        s.metrics,
		"GET /events":                         s.feedEvents,
		"GET /sessions":                       s.list,
		"POST /sessions":                      s.create,
		"GET /sessions/{id}":                  s.describe,
		"DELETE /sessions/{id}":               s.end,
		"POST /sessions/{id}/resume":          s.resume,
		"GET /sessions/{id}/events":           s.events,
		"GET /sessions/{id}/history":          s.history,
		"GET /sessions/{id}/chat":             s.chat,
		"GET /sessions/{id}/lists/{list}":     s.listOf,
		"GET /sessions/{id}/media/{hash}":     s.media,
		"GET /sessions/{id}/artifacts":        s.artifacts,
		"GET /refs/{ref}":                     s.ref,
		"GET /sessions/{id}/view":             s.view,
		"POST /sessions/{id}/message":         s.message,
		"POST /sessions/{id}/steer":           s.steer,
		"POST /sessions/{id}/do":              s.operate,
		"POST /sessions/{id}/stop":            s.stop,
		"POST /sessions/{id}/permission/{of}": s.permission,
		"POST /sessions/{id}/interrupt/{of}":  s.interrupt,
		"GET /sessions/{id}/calls":            s.calls,
		"POST /sessions/{id}/calls/{of}":      s.result,
		"POST /sessions/{id}/callback":        s.callback,
		"GET /sessions/{id}/state":            s.state,
		"POST /sessions/{id}/state":           s.changeState,
		"POST " + routeChat:                   s.replyIn("uistream-approvals"),
		"GET " + routeRejoin:                  s.rejoinIn("uistream-approvals"),
		"POST " + routeAGUI:                   s.replyIn("agui"),
	}
}

// routes returns the handler of all routes.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range s.handlers() {
		serve = s.ownersOnly(pattern, serve)
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := serve(w, r)
			if err == nil {
				return
			}
			refusal := asRefusal(err)
			if refusal.Code == CodeLog || errors.Is(err, eventlog.ErrFull) {
				s.c.LogUnavailable(err)
			}
			answerError(w, refusal)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			answerError(w, noRoute(mux, w.Header(), r))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// noRoute returns the refusal of a request that no route takes.
func noRoute(mux *http.ServeMux, h http.Header, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := *r
		other.Method = method
		if _, pattern := mux.Handler(&other); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return refuse(http.StatusNotFound, CodeInvalid, "there is no route %s", r.URL.Path)
	}
	h.Set("Allow", strings.Join(allowed, ", "))
	return refuse(http.StatusMethodNotAllowed, CodeInvalid, "%s takes %s, not %s", r.URL.Path, strings.Join(allowed, " or "), r.Method)
}

// readBody decodes a request's body. An empty one leaves the value as it is.
func readBody(r *http.Request, into any) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return nil
	}
	if err := strict.Unmarshal(b, into); err != nil {
		return refuse(http.StatusBadRequest, CodeInvalid, "the body: %v", err)
	}
	return nil
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) error {
	page.ServeHTTP(w, r)
	return nil
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	h := map[string]any{
		"ok": true, "runtimes": slices.Sorted(maps.Keys(s.c.Adapters)), "events": event.Types(),
		"can": s.abilities(),
	}
	if len(s.c.Adapters) == 1 {
		for name := range s.c.Adapters {
			h["runtime"] = name
		}
	}
	if err := s.room.refuseIfFull(); err != nil {
		h["ok"], h["error"] = false, asRefusal(err)
	}
	answer(w, http.StatusOK, h)
	return nil
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	runs, err := s.runs(r.Context())
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, map[string]any{"sessions": runs})
	return nil
}

func (s *Server) describe(w http.ResponseWriter, r *http.Request) error {
	info, err := s.stored(r.Context(), r.PathValue("id"))
	if h := s.running(r.Context(), r.PathValue("id")); h != nil && errors.Is(err, eventlog.ErrUnknownSession) {
		answer(w, http.StatusOK, h.state()) // its first event is not stored yet
		return nil
	}
	if err != nil {
		return err
	}
	owner, err := s.ownerOf(r.Context(), info.SessionID)
	if err != nil {
		return err
	}
	run, err := s.runOf(r.Context(), info, owner)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, run)
	return nil
}

// of returns the running session of a request.
func (s *Server) of(r *http.Request) (*hosted, error) {
	return s.runningOf(r.Context(), r.PathValue("id"))
}

// runningOf returns a session that runs here, or the refusal for one that does not.
func (s *Server) runningOf(ctx context.Context, id string) (*hosted, error) {
	if h := s.running(ctx, id); h != nil {
		select {
		case <-s.closing:
			return nil, refuse(http.StatusServiceUnavailable, CodeClosing, "the server is shutting down")
		default:
		}
		if h.touch() {
			return h, nil
		}
		select {
		case <-h.ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if h, err := s.wake(ctx, id); h != nil || err != nil {
		return h, err
	}
	if err := s.refuseElsewhere(ctx, id); err != nil {
		return nil, err
	}
	if _, err := s.c.Log.Session(ctx, id); err != nil {
		return nil, err
	}
	return nil, refuse(http.StatusGone, CodeClosed, "session %q does not run: resume it first", id)
}

func (s *Server) end(w http.ResponseWriter, r *http.Request) error {
	if id := r.PathValue("id"); s.isIdle(id) {
		s.forgetIdle(id)
		return s.describe(w, r)
	}
	h, err := s.of(r)
	if err != nil {
		return err
	}
	if err := h.close(context.WithoutCancel(r.Context())); err != nil {
		return err
	}
	answer(w, http.StatusOK, h.state())
	return nil
}

func (s *Server) message(w http.ResponseWriter, r *http.Request) error {
	h, err := s.of(r)
	if err != nil {
		return err
	}
	var m message
	if err := readBody(r, &m); err != nil {
		return err
	}
	return s.sendMessage(w, r, h, m, h.session.Send)
}

func (s *Server) steer(w http.ResponseWriter, r *http.Request) error {
	h, err := s.of(r)
	if err != nil {
		return err
	}
	var m message
	if err := readBody(r, &m); err != nil {
		return err
	}
	return s.sendMessage(w, r, h, m, h.sendBy(op.Steer))
}

// sendBy returns a function that sends a message by an operation: steer.
func (h *hosted) sendBy(o *op.Op) func(context.Context, adapters.Message) error {
	return func(ctx context.Context, m adapters.Message) error {
		_, err := adapters.Do(ctx, h.session, op.Call{Do: o.Name, MessageID: m.ID, Text: m.Text})
		return err
	}
}

func (s *Server) sendMessage(w http.ResponseWriter, r *http.Request, h *hosted, m message, send func(context.Context, adapters.Message) error) error {
	if m.Message == nil && len(m.Attachments) == 0 {
		return refuse(http.StatusBadRequest, CodeInvalid, "the body has no message")
	}
	if m.Runtime != "" && m.Runtime != h.runtime {
		return refuse(http.StatusBadRequest, CodeInvalid, "the session's runtime is %s, not %s", h.runtime, m.Runtime)
	}
	at := h.state().LastSeq
	id, repeated, err := h.send(context.WithoutCancel(r.Context()), m, send)
	if err != nil {
		return err
	}
	status, out := http.StatusAccepted, map[string]any{"message_id": id, "after": at}
	if repeated {
		status = http.StatusOK
		out["repeated"] = true
	}
	answer(w, status, out)
	return nil
}

// operate runs an optional operation. One that sends a message, such as steer, is answered as
// that message.
func (s *Server) operate(w http.ResponseWriter, r *http.Request) error {
	h, err := s.of(r)
	if err != nil {
		return err
	}
	var c op.Call
	if err := readBody(r, &c); err != nil {
		return err
	}
	o := op.Named(c.Do)
	if o == nil {
		var names []string
		for _, o := range op.All() {
			names = append(names, o.Name)
		}
		return refuse(http.StatusBadRequest, CodeInvalid, "do is %q: it must be one of %s", c.Do, strings.Join(names, ", "))
	}
	if o.Args == op.MessageText {
		m := message{MessageID: c.MessageID}
		if c.Text != "" {
			m.Message = &c.Text
		}
		return s.sendMessage(w, r, h, m, h.sendBy(o))
	}
	if member := o.Missing(c); member != "" {
		return refuse(http.StatusBadRequest, CodeInvalid, "%s: %s is missing", c.Do, member)
	}
	result, err := adapters.Do(context.WithoutCancel(r.Context()), h.session, c)
	if err == nil {
		h.noteOperation(c)
		result, err = s.ownListed(r.Context(), c, result)
	}
	if err != nil {
		return err
	}
	out := map[string]any{"ok": true}
	if result != nil {
		out["result"] = result
	}
	answer(w, http.StatusAccepted, out)
	return nil
}

func (s *Server) listOf(w http.ResponseWriter, r *http.Request) error {
	h, err := s.of(r)
	if err != nil {
		return err
	}
	c := op.Call{Do: op.List.Name, List: r.PathValue("list")}
	result, err := adapters.Do(r.Context(), h.session, c)
	if err == nil {
		result, err = s.ownListed(r.Context(), c, result)
	}
	if err != nil {
		return err
	}
	list, _ := result.([]adapters.Listed)
	answer(w, http.StatusOK, map[string]any{"listed": append([]adapters.Listed{}, list...)})
	return nil
}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) error {
	return s.do(w, r, func(ctx context.Context, h *hosted) error { return h.session.Stop(ctx) })
}

func (s *Server) permission(w http.ResponseWriter, r *http.Request) error {
	var b struct {
		Decision event.Decision `json:"decision"`
		Message  string         `json:"message"`
		Input    jsontext.Value `json:"input"`
		Scope    adapters.Scope `json:"scope"`
	}
	if err := readBody(r, &b); err != nil {
		return err
	}
	if !slices.Contains([]event.Decision{event.DecisionAllow, event.DecisionDeny, event.DecisionCancel}, b.Decision) {
		return refuse(http.StatusBadRequest, CodeInvalid, "decision is %q: it must be allow, deny or cancel", b.Decision)
	}
	return s.do(w, r, func(ctx context.Context, h *hosted) error {
		return h.session.Answer(ctx, r.PathValue("of"), adapters.Answer{Decision: b.Decision, Message: b.Message, Input: b.Input, Scope: b.Scope})
	})
}

func (s *Server) interrupt(w http.ResponseWriter, r *http.Request) error {
	var b struct {
		Value jsontext.Value `json:"value"`
	}
	if err := readBody(r, &b); err != nil {
		return err
	}
	if len(b.Value) == 0 {
		return refuse(http.StatusBadRequest, CodeInvalid, "the body has no value")
	}
	return s.do(w, r, func(ctx context.Context, h *hosted) error {
		return h.session.Answer(ctx, r.PathValue("of"), adapters.Answer{Value: b.Value})
	})
}

// do calls an operation of the running session and answers.
func (s *Server) do(w http.ResponseWriter, r *http.Request, operation func(context.Context, *hosted) error) error {
	if s.isIdle(r.PathValue("id")) {
		return adapters.ErrNoTurn // and no request waits
	}
	h, err := s.of(r)
	if err != nil {
		return err
	}
	if err := operation(context.WithoutCancel(r.Context()), h); err != nil {
		return err
	}
	answer(w, http.StatusAccepted, map[string]any{"ok": true})
	return nil
}
