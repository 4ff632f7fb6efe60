package sidecar

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// hosted is a session that runs here.
type hosted struct {
	s       *Server
	id      string
	runtime string
	owner   string        // guarded by s.mu until ready is closed, like owned
	owned   bool          // the log holds the owner
	ready   chan struct{} // closed when the session is open, or could not be opened
	ended   chan struct{} // closed when its last event is stored

	// Set before ready is closed.
	session adapters.Session // nil if it could not be opened
	from    int64            // the log's last seq when it was opened
	earlier func() (map[string]bool, error)

	events *eventlog.Recorder
	tail   tail // the newest events in the log

	calls calls // of the tools and hooks of the client

	heartbeat time.Duration // between comments in its streams; 0: that of the server

	mu      sync.Mutex
	run     Run
	before  State             // of run, before a message was accepted
	begun   int64             // seq of the last turn_start
	claims  map[string]*claim // messages, by id
	pending int               // messages that are being sent
	idle    chan struct{}     // closed when no turn runs; nil: no call waits for it
	replies replies
	body    opening // what it was opened with; zero if the server has recovered it
	failed  error   // the log gave up
	use
}

// claim is a message that was accepted, or is being sent.
type claim struct {
	sent chan struct{} // closed when err is set
	err  error
}

// open opens the session and records its events. After it, h.ready is closed.
func (h *hosted) open(ctx context.Context, a adapters.Adapter, o adapters.Options) error {
	defer close(h.ready)
	if prepare := h.s.c.Prepare; prepare != nil {
		if err := prepare(h.runtime, &o); err != nil {
			h.s.release(h)
			return refuse(http.StatusUnprocessableEntity, CodeInvalid, "the session cannot be prepared: %v", err)
		}
	}
	media := storeMedia(&o)
	session, err := a.Open(ctx, o)
	if err != nil {
		h.s.release(h)
		return err
	}
	h.session, h.from = session, o.After.Seq
	h.tail.begin(o.After.Seq)
	h.run = Run{SessionID: h.id, Owner: h.owner, Runtime: h.runtime, State: StatePending, LastSeq: o.After.Seq, Turn: o.After.Turn, Live: true}
	h.earlier = sync.OnceValues(func() (map[string]bool, error) { return h.readMessageIDs(context.WithoutCancel(ctx), o.After.Seq) })
	rec := eventlog.Record(tailedLog{h.s.c.Log, &h.tail}, session.Events(), eventlog.RecorderOptions{
		Observe: h.observe, Failed: h.logFailed, Media: media, MediaFailed: h.mediaFailed,
		FullFor: waitsForRoom, Waits: func(err error) { h.s.room.waits(h, err) },
	})
	h.events = rec
	go func() {
		<-rec.Events()
		h.end()
	}()
	h.endWhenIdle()
	return nil
}

// observe tracks the state of the session.
func (h *hosted) observe(e event.Event) {
	h.mu.Lock()
	before := h.run
	h.run.add(e)
	if e.Type() == event.TypeTurnStart {
		h.begun = e.Seq
	}
	h.noteUse(e)
	after := h.run
	h.noteIdle()
	h.mu.Unlock()
	if after.State != before.State || after.Turn != before.Turn || len(after.NeedsInput) != len(before.NeedsInput) {
		h.s.feed.publish(after)
	}
}

// end ends a session whose last event is stored.
func (h *hosted) end() {
	h.mu.Lock()
	h.run.Live, h.run.Idle, h.run.NeedsInput = false, h.idling, nil
	if h.run.State == StateStreaming {
		h.run.State = StateFailed
	}
	after := h.run
	h.noteIdle()
	h.mu.Unlock()
	h.s.keepIdle(h)
	h.s.finish(h) // before another request may open it here
	h.s.release(h)
	close(h.ended)
	h.s.feed.publish(after)
}

// logFailed ends a session whose events cannot be stored, because no listener would
// receive them.
func (h *hosted) logFailed(err error) {
	h.mu.Lock()
	h.failed = err
	h.mu.Unlock()
	h.s.room.mu.Lock()
	h.s.room.ended++
	h.s.room.mu.Unlock()
	if h.s.c.LogFailed != nil {
		h.s.c.LogFailed(h.id, err)
	}
	go func() { _ = h.session.Close(context.Background()) }()
}

// mediaFailed reports a medium that cannot be stored. The session goes on.
func (h *hosted) mediaFailed(m event.Media, err error) {
	if h.s.c.MediaFailed != nil {
		h.s.c.MediaFailed(h.id, m, err)
	}
}

// close ends the session and returns when its last event is stored.
func (h *hosted) close(ctx context.Context) error {
	select {
	case <-h.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if h.session == nil {
		return nil
	}
	err := h.session.Close(ctx)
	select {
	case <-h.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	return errors.Join(err, h.logError())
}

// backlog returns how many events of the session are not stored yet, and for how long the oldest
// has waited.
func (h *hosted) backlog() (depth int, oldest time.Duration) {
	select {
	case <-h.ready:
	default:
		return 0, 0
	}
	if h.events == nil {
		return 0, 0
	}
	return h.events.Backlog()
}

// logError returns why the log gave up, or nil.
func (h *hosted) logError() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

// state returns the session's Run.
func (h *hosted) state() Run {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.run
}

// message is the body of a message.
type message struct {
	Message     *string            `json:"message"` // nil: none, as opposed to an empty one
	MessageID   string             `json:"message_id"`
	Runtime     string             `json:"runtime"` // of the session, if it is given
	Attachments []event.Attachment `json:"attachments"`
	Priority    adapters.Priority  `json:"priority"`
	Seen        *int64             `json:"seen"`

	begins bool // the message begins a turn: it is refused while one runs, even with an id
}

func (m *message) text() string {
	if m.Message == nil {
		return ""
	}
	return *m.Message
}

// send sends a message that was not sent before. It returns the message's id, and
// whether it was sent before.
func (h *hosted) send(ctx context.Context, m message, to func(context.Context, adapters.Message) error) (id string, repeated bool, err error) {
	for {
		c, first, err := h.claim(m)
		if err != nil {
			return "", false, err
		}
		if !first {
			select {
			case <-c.sent:
			case <-ctx.Done():
				return "", false, ctx.Err()
			}
			if c.err == nil {
				return m.MessageID, true, nil
			}
			continue // the first attempt failed: this one is another
		}
		id = cmp.Or(m.MessageID, rand.Text())
		err = to(ctx, adapters.Message{ID: id, Text: m.text(), Attachments: m.Attachments, Priority: m.Priority})
		h.settleClaim(m.MessageID, c, err)
		return id, false, err
	}
}

// claim returns the claim of a message, and whether the caller is the first.
func (h *hosted) claim(m message) (c *claim, first bool, err error) {
	if m.MessageID != "" {
		ids, err := h.earlier()
		if err != nil {
			return nil, false, err
		}
		if ids[m.MessageID] {
			sent := make(chan struct{})
			close(sent)
			return &claim{sent: sent}, false, nil
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.claims[m.MessageID]; c != nil && m.MessageID != "" {
		return c, false, nil
	}
	if err := h.s.room.refuseIfFull(); err != nil {
		return nil, false, err
	}
	if m.Seen != nil && h.begun > *m.Seen {
		r := refuse(http.StatusConflict, CodeStale, "a turn began at seq %d, after what the client has seen: read the events after %d first", h.begun, *m.Seen)
		r.LastSeq = h.run.LastSeq
		return nil, false, r
	}
	if m.begins && h.run.State == StateStreaming {
		return nil, false, refuse(http.StatusConflict, CodeBusy, "a turn runs, which another client began: wait for its end, or stop it")
	}
	if m.MessageID == "" && h.run.State == StateStreaming {
		return nil, false, refuse(http.StatusConflict, CodeBusy, "a turn runs, and a message without message_id could be a repetition: set message_id, or wait for the end of the turn")
	}
	if m.begins {
		h.replies.ours = true
	}
	c = &claim{sent: make(chan struct{})}
	h.claims[m.MessageID] = c
	h.pending++
	if h.run.State != StateStreaming {
		h.before = h.run.State
		h.run.State, h.run.Starting = StateStreaming, true
		h.s.feed.publish(h.run)
	}
	return c, true, nil
}

// settleClaim ends the sending of a message.
func (h *hosted) settleClaim(id string, c *claim, err error) {
	h.mu.Lock()
	h.pending--
	c.err = err
	if err != nil || id == "" {
		delete(h.claims, id)
	}
	if err != nil && h.run.Starting && h.pending == 0 {
		h.run.State, h.run.Starting = h.before, false
		h.noteIdle()
		h.s.feed.publish(h.run)
	}
	h.mu.Unlock()
	close(c.sent)
}

// readMessageIDs returns the ids of the messages in the log up to a seq.
func (h *hosted) readMessageIDs(ctx context.Context, last int64) (map[string]bool, error) {
	ids := map[string]bool{}
	if last == 0 {
		return ids, nil
	}
	for e, err := range eventlog.All(ctx, h.s.c.Log, h.id, 0) {
		if err != nil {
			return nil, fmt.Errorf("read the messages of session %s: %w", h.id, err)
		}
		if e.Seq > last {
			break
		}
		if d, is := e.Data.(event.UserMessage); is && d.MessageID != "" {
			ids[d.MessageID] = true
		}
	}
	return ids, nil
}
