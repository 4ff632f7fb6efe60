package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/internal/interleave"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// maxUnread is how many events of the receiver may wait for the sender's stream. Beyond it,
// whole calls and blocks are left out.
const maxUnread = 1024

// stopLimit is how long the hub waits for the stop of a receiver's turn.
const stopLimit = 30 * time.Second

// exchange is one message and its answer.
type exchange struct {
	id               string
	sender, receiver *session
	text             string
	wait             bool // the call returns the answer
	parent           *exchange
	chain            *chain
	request          *delivery
	call             string // the id of the tool's call, or ""

	// Owned by the goroutine of the sender's events:
	at     interleave.Place // of the call
	shown  bool             // the task's first event is inserted
	final  bool             // its last one may be
	closed bool             // and is

	mu      sync.Mutex
	over    bool
	failure *Error // why there is no answer
	answer  answerText
	unread  []event.Data // of the receiver, which are not inserted
	open    []openPart   // what the inserted ones and unread leave open
	changed chan struct{}
	ended   chan struct{}   // closed when over
	settled chan struct{}   // closed when the last event of the task is inserted
	before  <-chan struct{} // queued of the sender's exchange that ended before this one, or nil
	queued  chan struct{}   // closed when the answer waits for its turn, or there is none to send
}

// openPart is a block or a call of the receiver that has not ended.
type openPart struct {
	id     string // in the sender's stream
	closed event.Data
}

// endAs ends the exchange, unless it has ended. failure is nil if the receiver's turn
// completed.
func (x *exchange) endAs(failure *Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	if failure != nil {
		failure.Exchange = x.id
		x.failure = failure
	}
	x.before = x.sender.endsNow(x)
	close(x.ended)
}

// observe reads an event of the receiver's turn.
func (x *exchange) observe(d event.Data) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.answer.add(d)
	x.mirror(d)
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

// mirror adds an event of the receiver to those that the sender's stream gets.
func (x *exchange) mirror(d event.Data) {
	own := func(id string) string { return x.id + "/" + id }
	full := len(x.unread) >= maxUnread
	switch d := d.(type) {
	case event.Delta:
		d.BlockID, d.MessageID = own(d.BlockID), own(d.MessageID)
		if n := len(x.unread); n > 0 {
			if last, is := x.unread[n-1].(event.Delta); is && last.BlockID == d.BlockID && last.MessageID == d.MessageID {
				last.Text += d.Text
				x.unread[n-1] = last
				return
			}
		}
		if !x.isOpen(d.BlockID) {
			if full {
				return
			}
			x.open = append(x.open, openPart{d.BlockID, event.BlockEnd{BlockID: d.BlockID, Status: event.BlockInterrupted}})
		}
		x.unread = append(x.unread, d)
	case event.BlockEnd:
		d.BlockID = own(d.BlockID)
		if x.closePart(d.BlockID) {
			x.unread = append(x.unread, d)
		}
	case event.ToolStart:
		if full {
			return
		}
		d.ToolUseID = own(d.ToolUseID)
		d.SubagentSpawn, d.SubagentName = false, "" // what it starts appears in the receiver's session only
		if d.MessageID != "" {
			d.MessageID = own(d.MessageID)
		}
		x.open = append(x.open, openPart{d.ToolUseID, event.ToolResult{ToolUseID: d.ToolUseID, Status: event.ToolInterrupted, IsError: true}})
		x.unread = append(x.unread, d)
	case event.ToolResult:
		d.ToolUseID = own(d.ToolUseID)
		if x.closePart(d.ToolUseID) {
			x.unread = append(x.unread, d)
		}
	}
}

func (x *exchange) isOpen(id string) bool {
	return slices.ContainsFunc(x.open, func(p openPart) bool { return p.id == id })
}

func (x *exchange) closePart(id string) bool {
	n := len(x.open)
	x.open = slices.DeleteFunc(x.open, func(p openPart) bool { return p.id == id })
	return len(x.open) < n
}

// insertUnread inserts the receiver's events that wait. It runs in the goroutine of the
// sender's events.
func (x *exchange) insertUnread() {
	if !x.shown {
		return
	}
	x.mu.Lock()
	unread := x.unread
	x.unread = nil
	x.mu.Unlock()
	for _, d := range unread {
		x.sender.Insert(interleave.Place{Turn: x.at.Turn, Subagent: x.id}, d, nil)
	}
}

// insertStart inserts the first event of the task. It runs in the goroutine of the
// sender's events.
func (x *exchange) insertStart(at interleave.Place) {
	x.at, x.shown = at, true
	x.sender.Insert(interleave.Place{Turn: at.Turn}, x.taskEvent(event.TaskRunning, x.text), nil)
	if x.final {
		x.insertEnd()
	}
}

// insertEnd inserts the last event of the task, after the end of what is open. It runs in
// the goroutine of the sender's events, after endAs.
func (x *exchange) insertEnd() {
	x.final = true
	if !x.shown || x.closed {
		return
	}
	x.closed = true
	x.insertUnread()
	x.mu.Lock()
	open := x.open
	x.open = nil
	x.mu.Unlock()
	for _, p := range open {
		x.sender.Insert(interleave.Place{Turn: x.at.Turn, Subagent: x.id}, p.closed, nil)
	}
	at := interleave.Place{}
	if x.sender.Turn() == x.at.Turn {
		at.Turn = x.at.Turn
	}
	status, text := x.result()
	x.sender.Insert(at, x.taskEvent(status, text), nil)
}

func (x *exchange) taskEvent(status event.TaskStatus, text string) event.Task {
	return event.Task{
		TaskID: x.id, Kind: event.TaskSubagent, ParentID: x.at.Subagent, ToolUseID: x.call, Name: x.receiver.id, Status: status, Text: text,
	}
}

// result returns how an exchange that is over ended, and its answer or the reason why
// there is none.
func (x *exchange) result() (event.TaskStatus, string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure == nil {
		return event.TaskCompleted, x.answer.final(x.receiver.hub.c.MaxAnswer)
	}
	switch x.failure.Code {
	case CodeStopped:
		return event.TaskStopped, x.failure.Message
	case CodeInterrupted:
		return event.TaskInterrupted, x.failure.Message
	}
	return event.TaskFailed, x.failure.Message
}

// run carries the exchange to its end, and then the answer to the sender. cancelled is
// closed if the call is cancelled.
func (x *exchange) run(cancelled <-chan struct{}) {
	defer x.sender.work.Done()
	limit := time.NewTimer(x.receiver.hub.c.Limit)
	defer limit.Stop()
	x.carry(cancelled, limit.C)
	x.sender.removeOutgoing(x)
	_ = x.sender.Do(context.Background(), func(reply func(error)) { // it fails if end was faster
		x.insertEnd()
		reply(nil)
	})
	close(x.settled)
	answer := x.queueAnswer()
	x.stopReceiver()
	if answer != nil {
		x.sendAnswer(answer)
	}
}

// carry sends the message and waits for the end.
func (x *exchange) carry(cancelled <-chan struct{}, limit <-chan time.Time) {
	turn := x.request.turn
	sent := make(chan error, 1)
	for {
		select {
		case <-turn:
			turn = nil
			x.sender.work.Go(func() {
				sent <- x.receiver.hub.send(context.Background(), x.receiver, adapters.Message{ID: x.request.id, Text: x.text})
			})
		case err := <-sent:
			if err != nil {
				code := CodeFailed
				if errors.Is(err, adapters.ErrClosed) {
					code = CodeClosed
				}
				x.endAs(refuse(code, "send the message to session %s: %v", x.receiver.id, err))
			}
		case <-x.changed:
			_ = x.sender.Do(context.Background(), func(reply func(error)) { // the sender ends, and with it the exchange
				x.insertUnread()
				reply(nil)
			})
		case <-limit:
			x.endAs(refuse(CodeTimeout, "session %s has not answered within %s", x.receiver.id, x.receiver.hub.c.Limit))
		case <-cancelled:
			x.endAs(refuse(CodeInterrupted, "the call was cancelled"))
		case <-x.ended:
			return
		}
	}
}

// stopReceiver withdraws the message, or stops the turn that answers it, if nobody waits
// for the answer any more.
func (x *exchange) stopReceiver() {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if x.receiver.withdraw(x.request) {
		// The runtime may have taken it, may not have it yet, or may have no such request.
		_, _ = adapters.Do(ctx, x.receiver.Session, op.Call{Do: op.Withdraw.Name, MessageID: x.request.id})
	}
	if x.receiver.answers(x) {
		_ = x.receiver.Stop(ctx) // the receiver's own events show why it could not be stopped
	}
}

// queueAnswer queues the answer for the sender, after those of the exchanges that ended
// before. It returns nil if the sender gets no message.
func (x *exchange) queueAnswer() *delivery {
	defer close(x.queued)
	if x.before != nil {
		<-x.before
	}
	if status, _ := x.result(); x.wait || status == event.TaskInterrupted {
		return nil // the call has the answer, or the sender's session has ended
	}
	d := newDelivery(x.request.id+answerSuffix, x, true)
	if x.sender.enqueue(d) != nil {
		return nil
	}
	return d
}

// sendAnswer sends the answer to the sender as a message, when it is its turn.
func (x *exchange) sendAnswer(d *delivery) {
	status, text := x.result()
	select {
	case <-d.turn:
	case <-d.taken: // the session has ended
		return
	}
	head := fmt.Sprintf("Answer of session %s (%s) to %s", x.receiver.id, x.receiver.agent, x.id)
	if status != event.TaskCompleted {
		head = fmt.Sprintf("No answer of session %s (%s) to %s, which is %s", x.receiver.id, x.receiver.agent, x.id, status)
	}
	ctx, cancel := context.WithTimeout(context.Background(), x.sender.hub.c.Limit)
	defer cancel()
	if x.sender.hub.send(ctx, x.sender, adapters.Message{ID: d.id, Text: head + ":\n\n" + text}) == nil {
		select {
		case <-d.taken:
			return
		case <-ctx.Done():
		}
	}
	_ = x.sender.withdraw(d)
}

// answerText collects the final text of a turn: its result, or else its last block of
// text.
type answerText struct {
	blocks []textBlock
	stated string
}

type textBlock struct {
	id   string
	text []byte
}

func (a *answerText) add(d event.Data) {
	switch d := d.(type) {
	case event.Delta:
		if n := len(a.blocks); n > 0 && a.blocks[n-1].id == d.BlockID {
			a.blocks[n-1].text = append(a.blocks[n-1].text, d.Text...)
			return
		}
		a.blocks = append(a.blocks, textBlock{d.BlockID, []byte(d.Text)})
	case event.BlockEnd:
		for i := range a.blocks {
			if a.blocks[i].id != d.BlockID {
				continue
			}
			switch d.Status {
			case event.BlockReplaced:
				a.blocks[i].text = []byte(d.Text)
			case event.BlockRetracted:
				a.blocks[i].text = nil
			}
		}
	case event.Result:
		a.stated = d.Text
	}
}

func (a *answerText) final(limit int) string {
	text := a.stated
	for _, b := range slices.Backward(a.blocks) {
		if strings.TrimSpace(text) != "" {
			break
		}
		text = string(b.text)
	}
	if len(text) <= limit {
		return text
	}
	cut := text[:limit]
	for len(cut) > 0 && !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return fmt.Sprintf("%s\n\n(%d bytes more)", cut, len(text)-len(cut))
}
