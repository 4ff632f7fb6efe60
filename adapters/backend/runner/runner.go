package runner

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/lines"
)

// Config configures a conversation.
type Config struct {
	Adapter        adapters.Adapter
	Options        adapters.Options
	ConversationID string
	ToolPreset     string // for the message init; Options.Judge enforces it

	AnswerLimit   time.Duration // how long a request waits for its answer: 24h
	ProgressEvery time.Duration // the time between two reports about a tool: 5s
	CloseLimit    time.Duration // how long the runtime has to end: 10s
	TextDelay     time.Duration // how long text waits for the end of its paragraph: 500ms
}

// ErrFailed is returned by Run if the conversation ended by itself, with an error.
var ErrFailed = errors.New("the conversation failed")

// Run runs a conversation until its input ends, the command stop comes, the runtime ends, or
// ctx is done, whose cause is then the reason of the shutdown. It returns nil if the runtime
// did not fail. It does not wait for a reader of in that blocks; if in is an io.Closer, it is
// closed.
func Run(ctx context.Context, c Config, in io.Reader, out io.Writer) error {
	c.AnswerLimit = cmp.Or(c.AnswerLimit, 24*time.Hour)
	c.ProgressEvery = cmp.Or(c.ProgressEvery, 5*time.Second)
	c.CloseLimit = cmp.Or(c.CloseLimit, 10*time.Second)
	c.TextDelay = cmp.Or(c.TextDelay, 500*time.Millisecond)
	w := bufio.NewWriter(out)
	r := &runner{c: c, w: w, done: make(chan func()), pending: map[string]*time.Timer{}}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	s, err := c.Adapter.Open(r.ctx, c.Options)
	if err != nil {
		return r.openFailed(err)
	}
	r.write(message.Ready{ConversationID: c.ConversationID, Runtime: c.Adapter.Capabilities().Runtime, Cwd: c.Options.Dir})
	r.session = s
	r.operations = make(chan func(), 1)
	go r.operate()
	return r.run(in)
}

// runner is a conversation. One goroutine runs its methods, but for operate and read.
type runner struct {
	c       Config
	w       *bufio.Writer
	failure error // of a write
	session adapters.Session
	t       message.Translator

	ctx        context.Context //nolint:containedctx // of the conversation
	cancel     context.CancelCauseFunc
	operations chan func()            // what waits for the runtime, in order
	waiting    []func()               // until operations takes it
	done       chan func()            // what follows an operation, and what timers do
	pending    map[string]*time.Timer // the requests that have no answer, by id

	queue    []adapters.Message
	queued   []string // by the runtime
	written  []string // the last message_queue
	messages int
	busy     bool   // a turn runs, or a message was sent and its turn has not ended
	sent     string // the id of a message that was sent and that no turn has taken
	stopping int    // interrupts that are being carried out
	flushing bool   // flushLater has set a timer
	draining bool   // the input has ended, or stop came: end when idle
	failed   bool   // the session ended with an error
}

func (r *runner) write(all ...message.Message) {
	if r.failure == nil {
		r.failure = errors.Join(message.Write(r.w, all...), r.w.Flush())
		if r.failure != nil && r.cancel != nil {
			r.cancel(fmt.Errorf("the output cannot be written: %w", r.failure))
		}
	}
}

// openFailed ends a conversation whose session could not be opened.
func (r *runner) openFailed(err error) error {
	if r.ctx.Err() != nil {
		r.write(message.Shutdown{Reason: context.Cause(r.ctx).Error()})
		return nil //nolint:nilerr // the caller ended it
	}
	code := event.ErrorUnknown
	if e, ok := errors.AsType[*adapters.OpenError](err); ok {
		code = cmp.Or(e.Code, code)
	}
	if code == event.ErrorAuth {
		r.write(message.AuthError{Message: err.Error()})
	} else {
		r.write(message.Error{Code: code, Message: err.Error()})
	}
	r.write(message.Shutdown{Reason: "the session could not be opened"})
	return fmt.Errorf("%w: %w", ErrFailed, err)
}

// run handles everything in the order in which it comes.
func (r *runner) run(in io.Reader) error {
	input := make(chan []byte)
	go r.read(in, input)
	progress := time.NewTicker(r.c.ProgressEvery)
	defer progress.Stop()
	for {
		operations, next := r.operations, func() {}
		if len(r.waiting) > 0 {
			next = r.waiting[0]
		} else {
			operations = nil
		}
		select {
		case <-r.ctx.Done():
			return r.end(in, context.Cause(r.ctx).Error())
		case e, ok := <-r.session.Events():
			if !ok {
				r.failed = r.failed || !r.draining
				return r.end(in, "the runtime ended")
			}
			r.handleEvent(e)
		case line, ok := <-input:
			if ok {
				r.handleLine(line)
			} else {
				input = nil
				r.inputEnded()
			}
		case operations <- next:
			r.waiting = r.waiting[1:]
		case f := <-r.done:
			f()
		case now := <-progress.C:
			r.write(r.t.Running(now)...)
		}
		if r.draining && !r.busy && len(r.queue) == 0 {
			return r.end(in, "the conversation is complete")
		}
	}
}

// read passes the lines of the input on.
func (r *runner) read(in io.Reader, to chan<- []byte) {
	defer close(to)
	lr := lines.NewReader(in, 0)
	defer lr.Release()
	for {
		b, err := lr.Next()
		if err != nil && !errors.Is(err, lines.ErrTooLong) {
			return
		}
		select {
		case to <- slices.Clone(b): // a line that is too long is not JSON any more
		case <-r.ctx.Done():
			return
		}
	}
}

// operate runs operations, one after another.
func (r *runner) operate() {
	for {
		select {
		case f := <-r.operations:
			f()
		case <-r.ctx.Done():
			return
		}
	}
}

// later runs f in the runner's goroutine.
func (r *runner) later(f func()) {
	select {
	case r.done <- f:
	case <-r.ctx.Done():
	}
}

// do runs an operation after those that were begun before it, and reports its failure.
func (r *runner) do(name string, operation func(ctx context.Context) error, then func(error)) {
	r.waiting = append(r.waiting, r.reporting(name, operation, then))
}

// doNow runs an operation beside others: those before it may wait for what it does.
func (r *runner) doNow(name string, operation func(ctx context.Context) error) {
	go r.reporting(name, operation, nil)()
}

func (r *runner) reporting(name string, operation func(ctx context.Context) error, then func(error)) func() {
	return func() {
		err := operation(r.ctx)
		r.later(func() {
			if err != nil {
				r.refuse(name, err)
			}
			if then != nil {
				then(err)
			}
		})
	}
}

// refuse reports that a command failed.
func (r *runner) refuse(name string, err error) {
	r.write(message.Error{Code: event.ErrorInvalid, Message: err.Error(), Request: name})
}

// handleEvent writes what an event becomes.
func (r *runner) handleEvent(e event.Event) {
	if d, ok := e.Data.(event.Queue); ok {
		r.queued = d.MessageIDs
		r.writeQueue()
		return
	}
	for _, m := range r.t.Translate(e) {
		if init, ok := m.(message.Init); ok {
			init.ToolPreset = r.c.ToolPreset
			for _, s := range r.c.Options.MCP {
				init.MCPServers = append(init.MCPServers, s.Name)
			}
			m = init
		}
		r.write(m)
	}
	r.flushLater()
	switch d := e.Data.(type) {
	case event.TurnStart:
		r.busy = true
		if d.Cause == event.CauseUser || slices.Contains(d.MessageIDs, r.sent) {
			r.sent = ""
		}
	case event.UserMessage:
		if d.MessageID == r.sent {
			r.sent = ""
		}
	case event.PermissionRequest:
		r.await(d.RequestID, adapters.Answer{Decision: event.DecisionDeny, Message: "Nobody answered in time.", By: event.ByPolicy})
	case event.Interrupt:
		r.await(d.InterruptID, refusal)
	case event.PermissionResolved:
		r.forgetRequest(d.RequestID)
	case event.InterruptResolved:
		r.forgetRequest(d.InterruptID)
	case event.Done:
		r.turnEnded()
	case event.Error:
		if e.Turn == 0 {
			r.failed = true
			return
		}
		r.turnEnded()
	}
}

// flushLater writes the text that waits after a while, if it still waits then.
func (r *runner) flushLater() {
	if r.flushing || !r.t.Waits() || r.ctx.Err() != nil {
		return
	}
	r.flushing = true
	time.AfterFunc(r.c.TextDelay, func() {
		r.later(func() {
			r.flushing = false
			r.write(r.t.FlushText()...)
		})
	})
}

// turnEnded sends the next message. A turn that the runtime began by itself may come before that
// of the message that was sent.
func (r *runner) turnEnded() {
	r.busy = r.sent != ""
	r.sendNext()
	r.writeQueue()
}

// sendNext sends the oldest message of the queue if no turn runs.
func (r *runner) sendNext() {
	if r.busy || r.stopping > 0 || len(r.queue) == 0 {
		return
	}
	m := r.queue[0]
	r.queue = r.queue[1:]
	r.busy, r.sent = true, m.ID
	r.do("message", func(ctx context.Context) error { return r.session.Send(ctx, m) }, func(err error) {
		if err != nil {
			r.sent = ""
			r.turnEnded()
		}
	})
}

// writeQueue writes the messages that wait, if they are not those that it wrote before.
func (r *runner) writeQueue() {
	ids := slices.Concat([]string{}, r.queued)
	for _, m := range r.queue {
		ids = append(ids, m.ID)
	}
	if !slices.Equal(ids, r.written) {
		r.written = ids
		r.write(message.Queue{IDs: ids})
	}
}
