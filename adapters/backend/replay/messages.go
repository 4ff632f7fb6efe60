package replay

import (
	"fmt"

	"github.com/turnspec/turnspec/adapters/event"
)

type message struct {
	r      *Reducer
	m      Message // without Blocks
	blocks blocks
	place  int  // in Reducer.messages
	stale  bool // changed since the last view
	sealed bool // cannot change any more
}

func (m *message) markStale() {
	if !m.stale && !m.sealed {
		m.stale = true
		m.r.staleMessages = append(m.r.staleMessages, m)
	}
}

func (r *Reducer) newMessage(m Message) *message {
	r.lastNumber++
	m.Number, m.Seq, m.Start = r.lastNumber, r.seq, r.now
	msg := &message{r: r, m: m, place: r.messages.n}
	msg.blocks.msg = msg
	r.messages.setAt(r.own, msg.place, nil) // reserves the place
	r.open, r.newest = append(r.open, msg), msg
	msg.markStale()
	return msg
}

// assistantMessage returns the message of a turn that gets the next blocks.
func (r *Reducer) assistantMessage(t *turn) *message {
	if t.message != nil {
		return t.message
	}
	if t.ended && len(t.messages) > 0 {
		return t.lastShown() // a late block is not lost
	}
	m := Message{Role: RoleAssistant, ID: fmt.Sprintf("turn-%d", t.n), Turn: t.n, Status: Running, Cause: t.cause}
	if n := len(t.messages); n > 0 {
		m.ID = fmt.Sprintf("turn-%d.%d", t.n, n+1)
	}
	if t.ended {
		m.Status, m.Reason = Complete, t.reason
	}
	msg := r.newMessage(m)
	t.messages = append(t.messages, msg)
	if !t.ended {
		t.message = msg
	}
	return msg
}

// sessionMessage returns the message for blocks that belong to no turn.
func (r *Reducer) sessionMessage() *message {
	if m := r.newest; m != nil && m.m.Role == RoleSession && !m.sealed {
		return m
	}
	r.noteCount++
	return r.newMessage(Message{Role: RoleSession, ID: fmt.Sprintf("session-%d", r.noteCount), Status: Complete})
}

// handleUserMessage completes the assistant's message: later blocks of the turn go
// to a new one.
func (r *Reducer) handleUserMessage(e event.Event, d event.UserMessage) {
	if t := r.turns[e.Turn]; t != nil && t.message != nil {
		t.message.m.Status, t.message.m.End = Complete, r.now
		t.message.markStale()
		t.message = nil
	}
	msg := r.newMessage(Message{
		Role: RoleUser, ID: d.MessageID, Turn: e.Turn, Status: Complete, Via: d.Via,
		Attachments: cloneList(d.Attachments, func(a *event.Attachment) []*string {
			return []*string{&a.Kind, &a.Name, &a.Path, &a.URL, &a.MIME}
		}),
	})
	if d.Text != "" {
		n := r.newNode(Block{Kind: KindText, Status: Complete}, e.Turn)
		n.moveTo(&msg.blocks)
		n.appendText(d.Text)
	}
}
