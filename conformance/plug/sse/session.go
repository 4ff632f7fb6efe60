package sse

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/internal/plain"
)

const (
	// closeLimit is how long the last events may take after the answer to DELETE.
	closeLimit = 10 * time.Second
	// quietLimit is how long no event must have arrived after DELETE if the last event
	// cannot be recognized. Events arrive on another connection than the answer.
	quietLimit = 150 * time.Millisecond
)

// session is a session of a sidecar.
type session struct {
	*plug.Session
	s           *Subject
	base        string // the address without a slash at its end
	id          string // the sidecar's name for the session
	http        *http.Client
	health      plug.Declaration
	streamEnded chan struct{}
	left        chan struct{} // receives when the stream was left
	comments    atomic.Int64  // in the stream
	probes      *probes
	opened      conformance.Open // of a program that was started here
	calls       clientCalls
	foreign     *foreign // nil: the stream has events of package event

	returningContext context.Context // of the listener that returns
	stopReturning    context.CancelFunc

	// Guarded by Mu:
	count       int       // of events in the stream
	last        time.Time // when the last event came
	ended       bool      // session_end was emitted
	closeCalled bool      // Close ends the sidecar
	endedAlone  bool      // the stream ended first, so that its reader ends the sidecar
	leaving     bool      // LeaveAndReturn has cut the stream
	signalled   bool      // the program was signalled, and has ended
	frames      []eventFrame
	returning   *returning // nil before the first event, or if the server has no cursors
	turnsBegun  int        // by messages
	inTurn      bool
	lastMessage *message
	plain       *plain.Translator
}

// path returns the path of a route of this session.
func (x *session) path(segments ...string) string {
	all := []string{"/sessions", url.PathEscape(x.id)}
	for _, w := range segments {
		all = append(all, url.PathEscape(w))
	}
	return strings.Join(all, "/")
}

// message is the body of POST /sessions/:id/message and /steer.
type message struct {
	Message     string             `json:"message"`
	MessageID   string             `json:"message_id"`
	Runtime     string             `json:"runtime"`
	Attachments []event.Attachment `json:"attachments,omitempty"`
	Priority    adapters.Priority  `json:"priority,omitempty"`
}

// messageOf returns the body of a message.
func (x *session) messageOf(m adapters.Message) message {
	return message{m.Text, m.ID, x.s.Of, m.Attachments, m.Priority}
}

// Send implements adapters.Session.
func (x *session) Send(ctx context.Context, m adapters.Message) error {
	if err := x.requireFor(m); err != nil {
		return err
	}
	if !x.isWhole() {
		x.Mu.Lock()
		if x.Running {
			x.Mu.Unlock()
			return plug.Unsupported("a message while a turn runs")
		}
		if x.repliesWithStreams() {
			x.Mu.Unlock()
			return x.post(ctx, m)
		}
		x.plain.BeginMessage(m)
		x.Mu.Unlock()
	}
	sent := x.messageOf(m)
	err := x.request(ctx, http.MethodPost, x.path("message"), sent, nil)
	if err == nil {
		x.Mu.Lock()
		x.lastMessage = &sent
		x.Mu.Unlock()
		x.foreign.wake()
	}
	return err
}

// requireFor returns an error for what a message has and the server does not declare.
func (x *session) requireFor(m adapters.Message) error {
	switch {
	case x.repliesWithStreams():
		return plug.TextOnly(m)
	case len(m.Attachments) > 0:
		return x.health.Require(plug.CanAttach)
	case m.Priority != "":
		return x.health.Require(plug.CanPriority)
	}
	return nil
}

// Steer implements adapters.Steerer.
func (x *session) Steer(ctx context.Context, m adapters.Message) error {
	if err := x.health.Require(op.Steer.Name); err != nil {
		return err
	}
	return x.request(ctx, http.MethodPost, x.path("steer"), x.messageOf(m), nil)
}

// List implements adapters.Lister.
func (x *session) List(ctx context.Context, list adapters.List) ([]adapters.Listed, error) {
	if err := x.health.Require(op.List.Name); err != nil {
		return nil, err
	}
	var out struct {
		Listed []adapters.Listed `json:"listed"`
	}
	err := x.request(ctx, http.MethodGet, x.path("lists", string(list)), nil, &out)
	return out.Listed, err
}

// Answer implements adapters.Session.
func (x *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	ability, path := plug.CanAnswer, x.path("permission", id)
	body := map[string]any{"decision": string(a.Decision)}
	if a.Value != nil {
		ability, path = plug.CanQuestion, x.path("interrupt", id)
		body = map[string]any{"value": a.Value}
	}
	if err := x.health.Require(ability); err != nil {
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
	x.Mu.Lock()
	x.plain.NoteAnswer(id)
	x.Mu.Unlock()
	return x.request(ctx, http.MethodPost, path, body, nil)
}

// Stop implements adapters.Session.
func (x *session) Stop(ctx context.Context) error {
	if x.repliesWithStreams() {
		return x.stopByRequest(ctx)
	}
	x.Mu.Lock()
	x.plain.Stopped = x.Running
	x.Mu.Unlock()
	return x.request(ctx, http.MethodPost, x.path("stop"), map[string]any{"runtime": x.s.Of}, nil)
}

// Close implements adapters.Session: it stops a turn whose end the session's end
// does not imply, deletes the session, and ends the sidecar if it was started here.
func (x *session) Close(ctx context.Context) error {
	x.Mu.Lock()
	signalled := x.signalled
	x.Mu.Unlock()
	if signalled {
		return nil
	}
	if x.plainTurnRuns() && x.Stop(ctx) == nil {
		x.waitUntil(func() bool { return !x.plainTurnRuns() }) // a check reports a turn without an end
	}
	if !x.beginClose() {
		<-x.streamEnded
		return nil
	}
	x.probe(ctx)
	if x.repliesWithStreams() && x.plainTurnRuns() {
		x.waitUntilQuiet() // the server may have messages to send of what the runtime wrote
	}
	x.Mu.Lock()
	x.Closing = true
	if x.Running && x.repliesWithStreams() {
		x.plain.LeaveTurn() // the rest of the reply is not read
	}
	x.Mu.Unlock()
	var err error
	if !x.repliesWithStreams() {
		err = x.request(ctx, http.MethodDelete, x.path(), nil, nil)
	}
	if err != nil {
		x.abandon()
		return err
	}
	return x.finishClose()
}

// beginClose notes that Close ends the sidecar. It reports false if the end of the stream did.
func (x *session) beginClose() bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.endedAlone {
		return false
	}
	x.closeCalled = true
	return true
}

// finishClose waits for the last event of a session that the server has ended, and ends the sidecar if it
// was started here.
func (x *session) finishClose() error {
	err := x.waitForLastEvent()
	if err == nil {
		x.compareReturning()
	}
	x.waitForCalls()
	x.stopReturning()
	x.stopCalls()
	x.Cancel()
	<-x.streamEnded
	x.http.CloseIdleConnections()
	if !x.endProgram() {
		return x.Fail(plug.Errorf("the sidecar still ran %v after it was sent SIGTERM", grace.Term).Advise("end the runtimes, then the sidecar, on SIGTERM"))
	}
	return err
}

// repliesWithStreams reports whether the server answers a message with the stream of its turn.
func (x *session) repliesWithStreams() bool { return x.foreign != nil && x.foreign.Mapping.Post != nil }

func (x *session) plainTurnRuns() bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return x.Running && !x.isWhole()
}

// waitForLastEvent waits for the last event of a session that was deleted or archived.
func (x *session) waitForLastEvent() error {
	if !x.isWhole() || !x.Supports(string(event.TypeSessionEnd)) {
		x.waitUntilQuiet()
		return nil
	}
	if !x.waitUntil(func() bool {
		x.Mu.Lock()
		defer x.Mu.Unlock()
		return x.ended
	}) {
		return x.Fail(plug.Errorf("the end of the session was answered, but neither session_end nor the end of the stream came within %v", closeLimit).
			Advise("send session_end when the runtime has ended, then end the stream; or do not list session_end among the events in /health"))
	}
	return nil
}

// waitUntilQuiet waits until no event has come for quietLimit.
func (x *session) waitUntilQuiet() {
	x.Mu.Lock()
	x.last = time.Now()
	x.Mu.Unlock()
	x.waitUntil(func() bool {
		x.Mu.Lock()
		defer x.Mu.Unlock()
		return time.Since(x.last) >= quietLimit
	})
}

// waitUntil waits until the condition holds or the stream ends. It reports false if
// closeLimit passes before.
func (x *session) waitUntil(holds func() bool) bool {
	limit := time.NewTimer(closeLimit)
	defer limit.Stop()
	poll := time.NewTicker(quietLimit / 10)
	defer poll.Stop()
	for !holds() {
		select {
		case <-x.streamEnded:
			return true
		case <-limit.C:
			return false
		case <-poll.C:
		}
	}
	return true
}

// abandon ends the session and the sidecar, if the events are not read.
func (x *session) abandon() {
	x.Mu.Lock()
	x.Closing = true
	x.Mu.Unlock()
	x.stopReturning()
	x.stopCalls()
	x.Abandon(grace)
	x.http.CloseIdleConnections()
	x.endProgram()
}
