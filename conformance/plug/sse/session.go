package sse

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/feed"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// The limits of an end, in real time.
const (
	// closeLimit is how long the last events may take after DELETE was answered.
	closeLimit = 10 * time.Second
	// restLimit is the same where no event says that it is the last: so long none
	// must have come, since they come by another connection than the answer.
	restLimit = 150 * time.Millisecond
)

// session is a session of a sidecar.
type session struct {
	s      *Subject
	base   string // the address, without a slash at its end
	name   string // ours
	id     string // the sidecar's
	http   *http.Client
	p      *program // nil: somebody else has started it
	health health
	cut    context.CancelFunc // ends the stream
	over   chan struct{}      // closed when the stream has ended

	*feed.Feed

	mu       sync.Mutex
	count    int // events of the stream
	seq      int64
	last     time.Time // when the last event came
	closing  bool      // DELETE was sent, or session_end told
	told     bool      // session_end was
	deleted  bool      // by Close, which then ends the sidecar
	provider string    // as the stream tells it
	lacks    map[string]bool

	translator
}

// fail notes the first mistake: what comes after it means nothing.
func (x *session) fail(m *jsonl.PlugError) error {
	if x.p != nil {
		m.Stderr = x.p.tail.String()
	}
	if x.Blame(m) && x.cut != nil {
		x.cut()
	}
	return x.ProtocolError()
}

// path is a route of this session.
func (x *session) path(words ...string) string {
	all := []string{"/sessions", url.PathEscape(x.id)}
	for _, w := range words {
		all = append(all, url.PathEscape(w))
	}
	return strings.Join(all, "/")
}

// message is the body of POST /sessions/:id/message and /steer.
type message struct {
	Message   string `json:"message"`
	MessageID string `json:"message_id"`
	Runtime   string `json:"runtime"`
}

// Send implements adapters.Session.
func (x *session) Send(ctx context.Context, m adapters.Message) error {
	id, text := m.ID, m.Text
	switch {
	case len(m.Attachments) > 0:
		return fmt.Errorf("files with a message: %w", conformance.ErrDeclaredUnsupported)
	case m.Priority != "":
		return adapters.ErrUnsupported
	}
	if !x.health.whole() {
		x.mu.Lock()
		if x.running {
			x.mu.Unlock()
			return fmt.Errorf("a message while a turn runs: %w", conformance.ErrDeclaredUnsupported)
		}
		x.turn++
		x.running, x.stopped = true, false
		x.emit(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{id}})
		x.emit(event.UserMessage{MessageID: id, Text: text, Via: event.ViaTurn})
		x.mu.Unlock()
	}
	return x.do(ctx, http.MethodPost, x.path("message"), message{text, id, x.s.Of}, nil)
}

// Steer implements adapters.Steerer.
func (x *session) Steer(ctx context.Context, m adapters.Message) error {
	if err := x.health.must(jsonl.CanSteer); err != nil {
		return err
	}
	return x.do(ctx, http.MethodPost, x.path("steer"), message{m.Text, m.ID, x.s.Of}, nil)
}

// Answer implements adapters.Session.
func (x *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	ability, path := jsonl.CanAnswer, x.path("permission", id)
	body := map[string]any{"decision": string(a.Decision)}
	if a.Value != nil {
		ability, path = jsonl.CanQuestion, x.path("interrupt", id)
		body = map[string]any{"value": a.Value}
	}
	if err := x.health.must(ability); err != nil {
		return err
	}
	for name, value := range map[string]string{"message": a.Message, "scope": string(a.Scope)} {
		if value != "" {
			body[name] = value
		}
	}
	if a.Input != nil {
		body["input"] = a.Input
	}
	x.mu.Lock()
	x.answered(id)
	x.mu.Unlock()
	return x.do(ctx, http.MethodPost, path, body, nil)
}

// Stop implements adapters.Session.
func (x *session) Stop(ctx context.Context) error {
	x.mu.Lock()
	x.stopped = x.running
	x.mu.Unlock()
	return x.do(ctx, http.MethodPost, x.path("stop"), map[string]any{"runtime": x.s.Of}, nil)
}

// Close implements adapters.Session: a turn that runs is stopped, if its end is
// not the session's too, the session is deleted, and the sidecar ended if it was
// started here.
func (x *session) Close(ctx context.Context) error {
	if x.turns() && x.Stop(ctx) == nil {
		x.wait(closeLimit, func() bool { return !x.turns() }) // if it has no end, that is for the checks to say
	}
	x.mu.Lock()
	x.closing, x.deleted = true, true
	x.mu.Unlock()
	err := x.do(ctx, http.MethodDelete, x.path(), nil, nil)
	if err != nil {
		x.abandon()
		return err
	}
	err = x.settle()
	x.cut()
	<-x.over
	x.http.CloseIdleConnections()
	if x.p != nil && !x.p.end() {
		return x.fail(stays(ending.Term))
	}
	return err
}

// turns reports whether a turn of the plain form runs.
func (x *session) turns() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.running && !x.health.whole()
}

// settle waits for the last event of a session that was deleted.
func (x *session) settle() error {
	if !x.health.whole() || !x.Supports(string(event.TypeSessionEnd)) {
		x.wait(closeLimit, func() bool {
			x.mu.Lock()
			defer x.mu.Unlock()
			return time.Since(x.last) >= restLimit
		})
		return nil
	}
	if !x.wait(closeLimit, func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.told
	}) {
		return x.fail(noEnd(closeLimit))
	}
	return nil
}

// wait waits until done, or the stream is at its end. It reports whether that
// came within the limit.
func (x *session) wait(limit time.Duration, done func() bool) bool {
	end := time.NewTimer(limit)
	defer end.Stop()
	look := time.NewTicker(restLimit / 10)
	defer look.Stop()
	for !done() {
		select {
		case <-x.over:
			return true
		case <-end.C:
			return false
		case <-look.C:
		}
	}
	return true
}

// abandon ends all; nobody reads the events.
func (x *session) abandon() {
	x.mu.Lock()
	x.closing = true
	x.mu.Unlock()
	x.Drop()
	if x.cut != nil {
		x.cut()
	}
	x.http.CloseIdleConnections()
	if x.p != nil {
		x.p.end()
	}
}
