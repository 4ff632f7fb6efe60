package sidecar

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// The routes that answer a message with the stream of its turn.
const (
	routeChat   = "/api/chat"                // the default of DefaultChatTransport
	routeRejoin = routeChat + "/{id}/stream" // of a client that lost the stream
	routeAGUI   = "/ag-ui"
)

// chatBodies is how much larger than others the bodies of these routes may be: a client sends the
// whole chat each time.
const chatBodies = 16

// replyIn returns the handler of requests that are answered with the stream of a turn in a dialect.
func (s *Server) replyIn(name string) func(http.ResponseWriter, *http.Request) error {
	d, _ := dialects.Of(name)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		in, err := d.ReadRequest(body)
		if err != nil {
			return refuse(http.StatusBadRequest, CodeInvalid, "%v", err)
		}
		if err := checkID(in.Session); err != nil {
			return err
		}
		var h *hosted
		var after int64
		if in.Message != nil {
			h, after, err = s.begin(r.Context(), in.Request)
		} else {
			h, after, err = s.answerRequests(r.Context(), in.Request)
		}
		if err != nil {
			return err
		}
		return s.sendReply(w, r, d, h, after, in.NewReply)
	}
}

// rejoinIn returns the handler of clients that lost the stream of a turn: they get it from its start.
// The answer is 204 if no turn runs.
func (s *Server) rejoinIn(name string) func(http.ResponseWriter, *http.Request) error {
	d, _ := dialects.Of(name)
	return func(w http.ResponseWriter, r *http.Request) error {
		id := r.PathValue("id")
		if err := checkID(id); err != nil {
			return err
		}
		h := s.running(r.Context(), id)
		if h == nil {
			if err := s.refuseElsewhere(r.Context(), id); err != nil {
				return err
			}
		}
		after, runs := beginning(h, d)
		if !runs {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return s.sendReply(w, r, d, h, after, d.Rejoin)
	}
}

// begin sends the message of a request. It returns the session, which it opens or resumes if it does not
// run, and the seq before the turn.
func (s *Server) begin(ctx context.Context, in dialect.Request) (h *hosted, after int64, err error) {
	if in.Message.Text == "" && len(in.Message.Attachments) == 0 {
		return nil, 0, refuse(http.StatusBadRequest, CodeInvalid, "the message is empty")
	}
	if h, err = s.openFor(ctx, in); err != nil {
		return nil, 0, err
	}
	in.Message.ID = cmp.Or(in.Message.ID, rand.Text())
	sent, err := h.wasSent(in.Message.ID)
	if err != nil {
		return nil, 0, err
	}
	ctx = context.WithoutCancel(ctx) // a client that gives up has sent its message
	if !sent {
		if err := h.stopLeft(ctx); err != nil {
			return nil, 0, err
		}
	}
	after = h.state().LastSeq
	m := message{MessageID: in.Message.ID, Message: &in.Message.Text, Attachments: in.Message.Attachments, begins: true}
	_, repeated, err := h.send(ctx, m, h.session.Send)
	if err != nil || !repeated {
		return h, after, err
	}
	after, err = s.beforeTurnOf(ctx, h.id, in.Message.ID, after)
	return h, after, err
}

// openFor returns the session of a request. It opens it, or resumes it if the log holds it.
func (s *Server) openFor(ctx context.Context, in dialect.Request) (*hosted, error) {
	if s.running(ctx, in.Session) != nil || s.isIdle(in.Session) {
		if err := s.checkOwner(ctx, in.Session); err != nil {
			return nil, err
		}
		return s.runningOf(ctx, in.Session)
	}
	b := opening{SessionID: in.Session, Runtime: in.Runtime}
	defer s.releaseUnlessHosted(b.SessionID)
	prepare := s.prepareResumed
	if _, err := s.stored(ctx, in.Session); errors.Is(err, eventlog.ErrUnknownSession) {
		prepare = s.prepareNew
	}
	if err := prepare(ctx, &b); err != nil {
		return nil, err
	}
	h, _, err := s.openOnce(ctx, &b)
	return h, err
}

// beforeTurnOf returns the seq before the turn that a message began, or the default if it did not begin yet.
func (s *Server) beforeTurnOf(ctx context.Context, session, message string, byDefault int64) (int64, error) {
	for e, err := range eventlog.All(ctx, s.c.Log, session, 0) {
		if err != nil {
			return 0, err
		}
		if d, is := e.Data.(event.TurnStart); is && slices.Contains(d.MessageIDs, message) {
			return e.Seq - 1, nil
		}
	}
	return byDefault, nil
}

// answerRequests answers the requests of a turn. It returns the seq of the last of them: the client has
// received the events up to it.
func (s *Server) answerRequests(ctx context.Context, in dialect.Request) (h *hosted, after int64, err error) {
	if err := s.checkOwner(ctx, in.Session); err != nil {
		return nil, 0, err
	}
	if h, err = s.runningOf(ctx, in.Session); err != nil {
		return nil, 0, err
	}
	asked := map[string]bool{} // true: a permission request
	for e, err := range eventlog.All(ctx, s.c.Log, h.id, 0) {
		if err != nil {
			return nil, 0, err
		}
		id, isPermission := requestOf(e)
		if id != "" && slices.ContainsFunc(in.Answers, func(a dialect.RequestAnswer) bool { return a.To == id }) {
			asked[id], after = isPermission, e.Seq
		}
	}
	for _, a := range in.Answers {
		isPermission, is := asked[a.To]
		if !is {
			return nil, 0, refuse(http.StatusNotFound, CodeUnknownID, "no request %.100q waits for an answer", a.To)
		}
		if isPermission && a.Answer.Decision == "" {
			return nil, 0, refuse(http.StatusBadRequest, CodeInvalid, "the answer to the permission request %.100q does not say whether it is approved", a.To)
		}
	}
	for _, a := range in.Answers {
		if asked[a.To] {
			a.Answer.Value = nil
		}
		// One that was answered already, as by another client, does not wait any more.
		if err := h.session.Answer(context.WithoutCancel(ctx), a.To, a.Answer); err != nil && !errors.Is(err, adapters.ErrUnknownID) {
			return nil, 0, err
		}
	}
	return h, after, nil
}

// requestOf returns the id of the permission request or the question that an event is.
func requestOf(e event.Event) (id string, isPermission bool) {
	switch d := e.Data.(type) {
	case event.PermissionRequest:
		return d.RequestID, true
	case event.Interrupt:
		return d.InterruptID, false
	}
	return "", false
}

// sendReply answers with the stream of a turn, from the event after a seq.
func (s *Server) sendReply(w http.ResponseWriter, r *http.Request, d dialects.Dialect, h *hosted, after int64, newReply func(func(string) bool) dialects.Reply) error {
	leave := h.joinReply()
	f := &format{dialect: d}
	defer func() { leave(f.ended) }()
	answered := map[string]bool{}
	reply := newReply(func(id string) bool { return answered[id] })
	f.translate = reply.Translate
	for e, err := range eventlog.All(r.Context(), s.c.Log, h.id, 0) {
		if err != nil {
			return err
		}
		if e.Seq <= after {
			reply.Skip(e)
		}
		switch d := e.Data.(type) {
		case event.PermissionResolved:
			answered[d.RequestID] = true
		case event.InterruptResolved:
			answered[d.InterruptID] = true
		}
	}
	st, release, err := s.openFormatted(w, f)
	if err != nil {
		return err
	}
	defer release()
	f.write(st, after, reply.Begin(), 0)
	if st.flush() != nil {
		return nil
	}
	s.sendEvents(r.Context(), st, h, h.id, after, h.state().LastSeq)
	return nil
}

// replies are the open streams that answer requests for a turn of a session.
type replies struct {
	open int
	ours bool        // a request of these routes began the turn
	left bool        // its streams ended before the turn
	stop *time.Timer // stops a turn that was left
}

// joinReply counts a stream. The caller calls leave when it ends: finished says that the client received
// all of the turn, or up to a request that waits for its answer.
func (h *hosted) joinReply() (leave func(finished bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.replies.open++
	h.replies.left = false
	if h.replies.stop != nil {
		h.replies.stop.Stop()
	}
	return h.leaveReply
}

func (h *hosted) leaveReply(finished bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.replies.open--
	if h.replies.open > 0 || !h.replies.ours {
		return
	}
	h.replies.left = true
	if !finished {
		h.replies.stop = time.AfterFunc(h.s.c.StopAfter, func() { _ = h.stopLeft(context.Background()) })
	}
}

// stopLeft stops the turn if its client is gone, and returns when it has ended.
func (h *hosted) stopLeft(ctx context.Context) error {
	h.mu.Lock()
	if !h.replies.left || h.run.State != StateStreaming {
		h.mu.Unlock()
		return nil
	}
	if h.idle == nil {
		h.idle = make(chan struct{})
	}
	idle := h.idle
	h.mu.Unlock()
	if err := h.session.Stop(ctx); err != nil && !errors.Is(err, adapters.ErrNoTurn) {
		return err
	}
	select {
	case <-idle:
		return nil
	case <-h.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// noteIdle releases those who wait for the end of the turn, if none runs. The caller holds h.mu.
func (h *hosted) noteIdle() {
	if h.run.State == StateStreaming {
		return
	}
	if h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
	if h.replies.stop != nil {
		h.replies.stop.Stop()
	}
	h.replies.ours, h.replies.left = false, false
}

// wasSent reports whether a message was sent before.
func (h *hosted) wasSent(id string) (bool, error) {
	ids, err := h.earlier()
	h.mu.Lock()
	defer h.mu.Unlock()
	return ids[id] || h.claims[id] != nil, err
}
