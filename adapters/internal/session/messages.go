package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// SentMessage is a message that was sent and that no turn has taken.
type SentMessage struct {
	adapters.Message
	Via  event.Via
	Turn string // the runtime's turn that is to take it, if the runtime has named it
}

// Sent are the messages that the runtime has and that no turn has taken, oldest first.
type Sent []*SentMessage

// Add adds a message.
func (s *Sent) Add(m adapters.Message, via event.Via) *SentMessage {
	sent := &SentMessage{Message: m, Via: via}
	*s = append(*s, sent)
	return sent
}

// StartsTurn reports whether a message was sent that starts a turn.
func (s Sent) StartsTurn() bool {
	return slices.ContainsFunc(s, func(m *SentMessage) bool { return m.Via == event.ViaTurn })
}

// Remove removes a message. It returns false if a turn has taken it: then the reply to it was
// lost.
func (s *Sent) Remove(m *SentMessage) bool {
	n := len(*s)
	*s = slices.DeleteFunc(*s, func(x *SentMessage) bool { return x == m })
	return len(*s) < n
}

// Take removes a message that a turn has taken, and completes its event.
func (s *Sent) Take(m *SentMessage, d *event.UserMessage) {
	d.MessageID, d.Attachments, d.Via = m.ID, m.Attachments, m.Via
	s.Remove(m)
}

// Refused reports a message that the runtime rejected and that was removed: as a failed turn if
// the message would have started one, else as a notice.
func (m *SentMessage) Refused(l *ledger.Ledger, err error) {
	if l.Turn() != nil {
		l.Notice(event.LevelError, event.NoticeRefused, "message "+m.ID+" was not taken: "+err.Error(), nil)
		return
	}
	code := event.ErrorInvalid
	if errors.Is(err, ErrTimeout) {
		code = event.ErrorTimeout
	}
	l.TurnStart(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}})
	l.Error(event.Error{Code: code, Message: err.Error()})
}

// maxWaiting bounds the messages that wait for the end of a turn.
const maxWaiting = 64

// Waiting are the messages that wait here for the end of a turn, because the runtime has no
// queue. C is what the adapter has made of a message. The zero Waiting has none.
type Waiting[C any] struct{ list []WaitingMessage[C] }

// WaitingMessage is a message that waits, with its content on the wire.
type WaitingMessage[C any] struct {
	adapters.Message
	Content C
}

// Len returns how many messages wait.
func (w *Waiting[C]) Len() int { return len(w.list) }

// Check returns an error if no further message may wait.
func (w *Waiting[C]) Check() error {
	if len(w.list) >= maxWaiting {
		return fmt.Errorf("send: %d messages wait already: %w", maxWaiting, adapters.ErrRefused)
	}
	return nil
}

// Add adds the newest message.
func (w *Waiting[C]) Add(m adapters.Message, content C) {
	w.list = append(w.list, WaitingMessage[C]{m, content})
}

// Next removes and returns the message that has waited longest. There must be one.
func (w *Waiting[C]) Next() WaitingMessage[C] {
	m := w.list[0]
	w.list = w.list[1:]
	return m
}

// Return makes a message the next one again.
func (w *Waiting[C]) Return(m adapters.Message, content C) {
	w.list = slices.Insert(w.list, 0, WaitingMessage[C]{m, content})
}

// Holds reports whether a message waits.
func (w *Waiting[C]) Holds(id string) bool { return slices.Contains(w.ids(), id) }

// Withdraw removes a message, for Withdrawer.
func (w *Waiting[C]) Withdraw(id string) error {
	n := len(w.list)
	w.list = slices.DeleteFunc(w.list, func(m WaitingMessage[C]) bool { return m.ID == id })
	if len(w.list) == n {
		return fmt.Errorf("withdraw: %w: %q", adapters.ErrUnknownID, id)
	}
	return nil
}

// Clear removes all messages, and returns their ids.
func (w *Waiting[C]) Clear() []string {
	ids := w.ids()
	w.list = nil
	return ids
}

// Emit emits the messages that wait.
func (w *Waiting[C]) Emit(l *ledger.Ledger) { l.Queue(w.ids()) }

func (w *Waiting[C]) ids() (ids []string) {
	for _, m := range w.list {
		ids = append(ids, m.ID)
	}
	return ids
}
