package acp

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/feed"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// How an agent is ended: the protocol has no word for it but the end of stdin,
// and some wait for a signal.
var (
	ending      = proc.Grace{Stdin: 2 * time.Second, Term: 10 * time.Second}
	cancelLimit = 10 * time.Second
	stderrLimit = time.Second // for what is left of stderr after the end
)

// stderrKept is how much of an agent's stderr stands in a mistake.
const stderrKept = 4 << 10

// session is an agent that was started. It holds one session.
type session struct {
	s    *Subject
	p    proc.Process
	tail *proc.Tail
	gate *gate
	conn *acpsdk.Connection
	over chan struct{} // closed when stdout is at its end and the agent has ended
	deaf atomic.Bool   // what was written did not reach the agent
	can  acpsdk.AgentCapabilities

	*feed.Feed

	mu      sync.Mutex
	name    string // ours
	id      acpsdk.SessionId
	early   []event.Data // before session_ready
	isReady bool
	loading bool // what is told is history
	seq     int64
	closing bool
	lacks   map[string]bool // what this agent was seen not to carry

	translator
	asks map[string]*ask
	nask int
}

// later is a reader that gives nothing before the channel is closed: a connection
// reads from the moment it is made, and logs with what it is told afterwards.
type later struct {
	r    io.Reader
	made <-chan struct{}
}

func (l *later) Read(p []byte) (int, error) {
	<-l.made
	return l.r.Read(p)
}

func newSession(s *Subject, p proc.Process, o conformance.Open) *session {
	x := &session{
		s: s, p: p, tail: proc.NewTail(stderrKept), over: make(chan struct{}), Feed: feed.New(), lacks: map[string]bool{}, asks: map[string]*ask{},
		name: o.SessionID, seq: o.After.Seq,
	}
	x.translator = translator{turn: o.After.Turn, tools: map[acpsdk.ToolCallId]*tool{}}
	x.gate = newGate(x.watched(p.Stdout()), x.garbage)
	made := make(chan struct{})
	x.conn = acpsdk.NewConnection(x.handle, x.written(p.Stdin()), &later{x.gate, made})
	x.conn.SetLogger(slog.New(slog.DiscardHandler))
	close(made)
	var errs sync.WaitGroup
	errs.Go(func() { _, _ = io.Copy(x.tail, p.Stderr()) })
	go func() {
		<-x.conn.Done()
		exit := proc.End(p, ending)                    // who has closed stdout has nothing more to say
		finish := time.AfterFunc(stderrLimit, func() { // somebody else may hold its stderr
			if f, ok := p.Stderr().(io.Closer); ok {
				_ = f.Close()
			}
		})
		errs.Wait()
		finish.Stop()
		x.ended(exit)
		close(x.over)
		x.Finish()
	}()
	return x
}

// call sends a request and hands the reply to the agent's gate.
func call[T any](ctx context.Context, x *session, limit time.Duration, method string, params any) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, noReply(method, limit))
	defer cancel()
	out, err := acpsdk.SendRequest[T](x.conn, ctx, method, params)
	if ctx.Err() == nil {
		x.gate.ack()
	} else if m, ok := errors.AsType[*jsonl.PlugError](context.Cause(ctx)); ok {
		x.fail(m)
		return out, m
	}
	return out, err
}

// fail notes the first mistake and ends the agent.
func (x *session) fail(m *jsonl.PlugError) {
	m.Stderr = x.tail.String()
	if x.Blame(m) {
		_ = x.p.Signal(proc.SIGKILL)
	}
}

// bury waits, where the agent can be spoken to no more, until its end has been
// noted: that tells more than a connection that is cut.
func (x *session) bury() {
	select {
	case <-x.conn.Done():
	default:
		if !x.deaf.Load() {
			return
		}
	}
	t := time.NewTimer(ending.Stdin + ending.Term + stderrLimit)
	defer t.Stop()
	select {
	case <-x.over:
	case <-t.C:
	}
}

// ended notes the end of the agent.
func (x *session) ended(exit proc.Exit) {
	x.mu.Lock()
	defer x.mu.Unlock()
	reason := "closed"
	if !x.closing {
		reason = "the agent ended"
		doing := "a session was open"
		if x.running {
			doing = "a prompt had no reply"
		}
		m := ended(exit.String(), doing)
		m.Stderr = x.tail.String()
		x.Blame(m)
	}
	if x.running {
		x.closeTurn(event.BlockInterrupted, true)
		if !x.closing { // else it owes the reply to a prompt that was cancelled
			x.emit(event.Error{Code: event.ErrorCrash, Message: "the agent ended"})
		}
		x.running = false
	}
	if x.isReady {
		x.tell(event.SessionEnd{Reason: reason}, 0)
	}
}

// Send implements adapters.Session. The agent replies when the turn is over.
func (x *session) Send(_ context.Context, m adapters.Message) error {
	id, text := m.ID, m.Text
	switch {
	case len(m.Attachments) > 0:
		return fmt.Errorf("files with a message: %w", conformance.ErrDeclaredUnsupported)
	case m.Priority != "":
		return adapters.ErrUnsupported
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closing || x.over == nil:
		return adapters.ErrClosed
	case x.ProtocolError() != nil:
		return x.ProtocolError()
	case x.running:
		return fmt.Errorf("a prompt while one has no reply: %w", conformance.ErrDeclaredUnsupported)
	}
	x.turn++
	x.running, x.cancelled = true, false
	done := make(chan struct{})
	x.turnOver = done
	x.emit(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{id}})
	x.emit(event.UserMessage{MessageID: id, Text: text, Via: event.ViaTurn})
	go func() { //nolint:gosec // the turn outlives the call that begins it
		defer close(done)
		r, err := acpsdk.SendRequest[acpsdk.PromptResponse](x.conn, context.Background(), acpsdk.AgentMethodSessionPrompt, acpsdk.PromptRequest{
			SessionId: x.id, Prompt: []acpsdk.ContentBlock{acpsdk.TextBlock(text)},
		})
		select {
		case <-x.conn.Done(): // ended tells
			return
		default:
		}
		x.mu.Lock()
		x.replied(r, err)
		x.mu.Unlock()
		x.gate.ack()
	}()
	return nil
}

// Steer implements adapters.Steerer.
func (*session) Steer(context.Context, adapters.Message) error {
	return fmt.Errorf("steer: %w", conformance.ErrDeclaredUnsupported)
}

// Stop implements adapters.Session: what is asked is answered with cancelled,
// as the protocol wants it, and the prompt gets its reply.
func (x *session) Stop(ctx context.Context) error {
	x.mu.Lock()
	running, over := x.running, x.turnOver
	x.cancelled = running
	x.mu.Unlock()
	if !running {
		return nil // there is nothing that a client could cancel
	}
	if err := x.conn.SendNotification(ctx, acpsdk.AgentMethodSessionCancel, acpsdk.CancelNotification{SessionId: x.id}); err != nil {
		return err
	}
	x.mu.Lock()
	x.withdraw()
	x.mu.Unlock()
	t := time.NewTimer(cancelLimit)
	defer t.Stop()
	select {
	case <-over:
	case <-x.over:
	case <-t.C: // the turn has no end: that is for the checks to say
	case <-ctx.Done():
	}
	return nil
}

// Close implements adapters.Session: what runs is cancelled, then the agent
// is let go.
func (x *session) Close(ctx context.Context) error {
	_ = x.Stop(ctx) // if the agent has ended, its end says more
	x.mu.Lock()
	x.closing = true
	x.withdraw()
	x.mu.Unlock()
	start := time.Now()
	proc.End(x.p, ending)
	if time.Since(start) >= ending.Stdin+ending.Term {
		x.fail(stays(ending.Stdin + ending.Term))
	}
	<-x.over
	return nil
}

// abandon ends the agent; nobody reads its events.
func (x *session) abandon() {
	x.mu.Lock()
	x.closing = true
	x.mu.Unlock()
	x.Drop()
	_ = x.p.Signal(proc.SIGKILL)
}

// handle takes what the agent sends of its own accord.
func (x *session) handle(ctx context.Context, method string, params stdjson.RawMessage) (any, *acpsdk.RequestError) {
	switch method {
	case acpsdk.ClientMethodSessionUpdate:
		defer x.gate.ack()
		x.mu.Lock()
		defer x.mu.Unlock()
		x.update(params)
		return nil, nil
	case acpsdk.ClientMethodSessionRequestPermission:
		return x.asked(ctx, params)
	}
	defer x.gate.ack()
	if method == "" || method[0] != '_' { // extensions are to be ignored
		x.mu.Lock()
		defer x.mu.Unlock()
		x.notice(event.NoticeUnknownMessage, "the method "+method, params)
	}
	return nil, acpsdk.NewMethodNotFound(method)
}

// garbage notes what the agent wrote that is no message.
func (x *session) garbage(line []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := stdjson.Marshal(string(line))
	if err != nil {
		b = nil // the notice says enough
	}
	x.notice(event.NoticeGarbage, "stdout of the agent is for the protocol alone", b)
}

func (x *session) notice(code event.NoticeCode, text string, raw []byte) {
	d := event.Notice{Level: event.LevelWarning, Code: code, Text: text}
	if len(raw) > 0 {
		d.Raw = event.Raw(raw)
	}
	x.emit(d)
}
