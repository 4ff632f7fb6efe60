package acp

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// grace is how an agent is ended. ACP has no message for that: the client closes
// stdin. Some agents wait for a signal.
var grace = proc.Grace{Stdin: 2 * time.Second, Term: 10 * time.Second}

const (
	cancelLimit = 10 * time.Second
	drainLimit  = time.Second // until the agent's end is noticed
)

// session is a running agent. It holds one session.
type session struct {
	*plug.Session
	gate       *gate
	conn       *acpsdk.Connection
	unreadable atomic.Bool // a write to the agent failed
	can        acpsdk.AgentCapabilities
	limits     map[string]any // the _meta of a session: limits, if the agent takes them

	// Guarded by Mu:
	id      acpsdk.SessionId
	loading bool   // updates are history
	garbage string // the first line that is not a message
	translator
	requests    map[string]*request
	lastRequest int
}

func newSession(s *Subject, p *plug.Process, o conformance.Open) *session {
	x := &session{Session: plug.NewSession(&s.Program, o), requests: map[string]*request{}}
	x.Process, x.Cancel = p, p.Kill
	x.tools = map[acpsdk.ToolCallId]*tool{}
	x.gate = newGate(x.watchReads(p.Stdout()), x.noticeGarbage, func(b []byte) { _ = x.Fail(plug.TooLong("a line of stdout", b)) })
	made := make(chan struct{})
	x.conn = acpsdk.NewConnection(x.handle, x.watchWrites(p.Stdin()), &blockedReader{x.gate, made})
	x.conn.SetLogger(slog.New(slog.DiscardHandler))
	close(made)
	go func() {
		<-x.conn.Done()
		p.Reap(func() proc.Exit { return proc.End(p, grace) }, x.handleEnd) // an agent that closed stdout can send nothing more
		x.Finish()
	}()
	return x
}

// call sends a request, waits for the reply and opens the gate for the next line.
func call[T any](ctx context.Context, x *session, limit time.Duration, method string, params any) (T, error) {
	late := plug.Errorf("no reply to %s within %v", method, limit).Advise("check that the command speaks ACP over stdio " +
		"(some agents need a flag such as --acp), and that it is installed: npx downloads on its first run")
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	out, err := acpsdk.SendRequest[T](x.conn, ctx, method, params)
	if ctx.Err() == nil {
		x.gate.ack()
	} else if errors.Is(context.Cause(ctx), late) {
		err := x.quoteGarbage(*late)
		_ = x.Fail(err)
		return out, err
	}
	return out, err
}

// waitForEnd waits until the agent's end has been handled, if the connection to it
// is broken. The Error about its end is more specific than one about the connection.
func (x *session) waitForEnd() {
	select {
	case <-x.conn.Done():
	default:
		if !x.unreadable.Load() {
			return
		}
	}
	plug.WaitFor(context.Background(), x.Process.Done, grace.Stdin+grace.Term+drainLimit)
}

// handleEnd handles the end of the agent.
func (x *session) handleEnd() {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if !x.Closing {
		doing := "a session was open"
		if x.Running {
			doing = "a prompt had no reply"
		}
		x.FailEnded("agent", doing, "its stdin is closed")
	}
	x.EndSession(x.Closing, "the agent ended", func() { x.closeTurn(event.BlockInterrupted, true) })
}

// emits are the types of events that messages of ACP become; there are no others.
var emits = []event.Type{
	event.TypeUserMessage, event.TypeDelta, event.TypeThinking, event.TypeToolStart, event.TypeToolResult, event.TypePermissionRequest,
	event.TypePlan, event.TypeUsage, event.TypeError, event.TypeDone,
}

// never holds the members that ACP cannot express: see the package comment.
var never = []string{
	"session_ready.provider_session_id", "session_ready.forked_from", "session_end.exit_code", "turn_start.cause", "turn_start.message_ids",
	"turn_start.provider_turn_id", "delta.block_id", "tool_result.exit_code", "tool_result.changes", "tool_result.status", "tool_start.tool",
	"tool_start.command", "tool_start.is_file_read", "tool_start.subagent_spawn", "thinking.done", "done.reason", "error.code", "answer.message", "seq",
	"ts", "subagent_id", "tool_start.of_a_plan", "open.mode", "tool_start.message_id", "permission_request.options",
}

// Supports implements conformance.EventSupporter.
func (x *session) Supports(what string) bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return !plug.Inexpressible(what, emits, never) && !x.Unsupported(what)
}

// Send implements adapters.Session. The agent replies when the turn has ended.
func (x *session) Send(_ context.Context, m adapters.Message) error {
	if err := plug.TextOnly(m); err != nil {
		return err
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	switch err := x.ProtocolError(); {
	case x.Closing:
		return adapters.ErrClosed
	case err != nil:
		return err
	case x.Running:
		return plug.Unsupported("a prompt while one has no reply")
	}
	x.cancelled = false
	x.BeginTurn(m)
	ended := make(chan struct{})
	x.turnEnded = ended
	go func() { //nolint:gosec // the turn outlives the call that begins it
		defer close(ended)
		r, err := acpsdk.SendRequest[acpsdk.PromptResponse](x.conn, context.Background(), acpsdk.AgentMethodSessionPrompt, acpsdk.PromptRequest{
			SessionId: x.id, Prompt: []acpsdk.ContentBlock{acpsdk.TextBlock(m.Text)},
		})
		select {
		case <-x.conn.Done(): // handleEnd ends the turn
			return
		default:
		}
		x.Mu.Lock()
		x.endTurn(r, err)
		x.Mu.Unlock()
		x.gate.ack()
	}()
	return nil
}

// Steer implements adapters.Steerer.
func (*session) Steer(context.Context, adapters.Message) error { return plug.Unsupported("steer") }

// Stop implements adapters.Session. As ACP requires, it answers open permission
// requests with cancelled and waits for the reply to the prompt.
func (x *session) Stop(ctx context.Context) error {
	x.Mu.Lock()
	running, ended := x.Running, x.turnEnded
	x.cancelled = running
	x.Mu.Unlock()
	if !running {
		return nil // a client has nothing to cancel
	}
	if err := x.conn.SendNotification(ctx, acpsdk.AgentMethodSessionCancel, acpsdk.CancelNotification{SessionId: x.id}); err != nil {
		return err
	}
	x.Mu.Lock()
	x.cancelRequests()
	x.Mu.Unlock()
	t := time.NewTimer(cancelLimit)
	defer t.Stop()
	select {
	case <-ended:
	case <-x.Process.Done:
	case <-t.C: // a check reports that the turn has no end
	case <-ctx.Done():
	}
	return nil
}

// Close implements adapters.Session: it cancels the running turn and ends the
// agent.
func (x *session) Close(ctx context.Context) error {
	_ = x.Stop(ctx) // if the agent has ended, the error about its end is more specific
	x.Mu.Lock()
	x.Closing = true
	x.cancelRequests()
	x.Mu.Unlock()
	x.End(grace, "agent", "end the runtime, then the agent, when stdin is at its end")
	return nil
}

// abandon ends the agent, if its events are not read.
func (x *session) abandon() {
	x.Mu.Lock()
	x.Closing = true
	x.Mu.Unlock()
	x.Abandon(plug.UnusedGrace)
}

// handle handles a request or notification of the agent.
func (x *session) handle(ctx context.Context, method string, params stdjson.RawMessage) (any, *acpsdk.RequestError) {
	if method == acpsdk.ClientMethodSessionRequestPermission {
		return x.handleRequest(ctx, params)
	}
	defer x.gate.ack()
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if method == acpsdk.ClientMethodSessionUpdate {
		x.handleUpdate(params)
		return nil, nil
	}
	if method == "" || method[0] != '_' { // ACP requires clients to ignore extensions
		x.emitNotice(event.NoticeUnknownMessage, "the method "+method, params)
	}
	return nil, acpsdk.NewMethodNotFound(method)
}

// noticeGarbage emits a notice for a line of the agent that is not a message.
func (x *session) noticeGarbage(line []byte) {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.garbage = cmp.Or(x.garbage, plug.Clip(string(line)))
	b, err := stdjson.Marshal(string(line))
	if err != nil {
		b = nil // the notice is enough
	}
	x.emitNotice(event.NoticeGarbage, "stdout of the agent is for the protocol alone", b)
}

// quoteGarbage adds the first line that is not a message to the error of a call that has
// no reply.
func (x *session) quoteGarbage(err plug.Error) *plug.Error {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.garbage != "" {
		err.What += "; its stdout has a line that is no message: " + x.garbage
	}
	return &err
}

func (x *session) emitNotice(code event.NoticeCode, text string, raw []byte) {
	d := event.Notice{Level: event.LevelWarning, Code: code, Text: text}
	if len(raw) > 0 {
		d.Raw = event.Raw(raw)
	}
	x.Emit(d)
}

// errorText is the text of an agent's error, with the text in its data.
func errorText(err error) string {
	r, ok := errors.AsType[*acpsdk.RequestError](err)
	if !ok {
		return err.Error()
	}
	s := r.Message
	switch d := r.Data.(type) {
	case nil:
	case map[string]any:
		for _, name := range []string{"details", "message", "error"} {
			if text, ok := d[name].(string); ok && !strings.Contains(s, text) {
				s += ": " + text
			}
		}
	default:
		s += fmt.Sprintf(": %v", d)
	}
	return s
}
