package claude

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// letter is a user's message on its way into a turn. On the wire it has a uuid.
type letter struct {
	id, uuid    string
	text        string
	attachments []event.Attachment
	known       bool // the text is known
	alone       bool // it was sent while nothing ran or waited: it begins a turn alone
	via         event.Via
	command     bool // ours, not the user's: nobody is told of it
	priority    adapters.Priority
}

// rank orders letters by what their sender says of the time.
func (l letter) rank() int {
	switch l.priority {
	case adapters.PriorityNow:
		return 0
	case adapters.PriorityLater:
		return 2
	}
	return 1
}

// mailbox knows which messages wait and which a coming turn takes. Newer
// runtimes say so (command_lifecycle); older ones echo them, and for these it
// follows the rule that was observed: a turn takes the messages that were echoed
// before it, and the next one.
type mailbox struct {
	waiting []letter
	taking  []letter // the runtime has started them, their turn has not begun
	untold  []letter // taken, but their text is not known yet
	spoken  bool     // the runtime tells lifecycles
	told    []string // the queue as last told
}

// send adds a message of the client.
func (m *mailbox) send(l letter, idle bool) {
	l.known = true
	l.alone = idle && len(m.waiting) == 0 && len(m.taking) == 0
	m.waiting = append(m.waiting, l)
}

// pending reports whether messages wait for a turn to begin.
func (m *mailbox) pending() bool { return len(m.waiting)+len(m.taking) > 0 }

// promised reports whether messages of the client wait for a turn to begin. That
// a command of ours is lost with the process is no loss of a message.
func (m *mailbox) promised() bool {
	theirs := func(l letter) bool { return !l.command }
	return slices.ContainsFunc(m.waiting, theirs) || slices.ContainsFunc(m.taking, theirs)
}

// first reports whether the message that begins the next turn is known without
// the runtime having said so.
func (m *mailbox) first() bool { return !m.spoken && len(m.waiting) > 0 }

// queued are the ids of the messages that wait behind a turn.
func (m *mailbox) queued() []string {
	var ids []string
	for _, l := range m.waiting {
		if !l.alone && !l.command {
			ids = append(ids, l.id)
		}
	}
	return ids
}

// takeForTurn returns the messages that the beginning turn takes. Without
// lifecycles they are those whose echo has come, and the next one: of messages
// that it merges the runtime echoes all but the last before the turn.
func (m *mailbox) takeForTurn() []letter {
	took := m.taking
	m.taking = nil
	if m.spoken || len(m.waiting) == 0 {
		return took
	}
	next := 0
	for i, l := range m.waiting[1:] {
		if l.rank() < m.waiting[next].rank() {
			next = i + 1
		}
	}
	took = append(took, m.waiting[next])
	m.waiting = slices.Delete(m.waiting, next, next+1)
	return took
}

// pick removes a waiting message by its uuid.
func (m *mailbox) pick(uuid string) (letter, bool) {
	i := slices.IndexFunc(m.waiting, func(l letter) bool { return l.uuid == uuid })
	if i < 0 {
		return letter{}, false
	}
	l := m.waiting[i]
	m.waiting = slices.Delete(m.waiting, i, i+1)
	return l, true
}

// lifecycle handles what the runtime says about a message.
func (t *translator) lifecycle(uuid, state string) {
	m := &t.mail
	m.spoken = true
	switch state {
	case "queued":
		if t.client == nil {
			m.waiting = append(m.waiting, letter{id: uuid, uuid: uuid, alone: t.l.Turn() == nil && !m.pending()})
			if t.l.Ready() {
				t.queue()
			}
		}
	case "started":
		l, ok := m.pick(uuid)
		switch {
		case !ok && t.client != nil:
			return // taken already, or not ours
		case !ok:
			l = letter{id: uuid, uuid: uuid}
		}
		if t.turn.done {
			t.lost() // it is for the next turn
		}
		if t.l.Turn() != nil {
			t.tell(l)
			t.queue()
		} else {
			m.taking = append(m.taking, l)
		}
	case "completed", "cancelled":
		if _, ok := m.pick(uuid); ok {
			t.queue()
		}
		m.taking = slices.DeleteFunc(m.taking, func(l letter) bool { return l.uuid == uuid })
		if s := t.l.Turn(); s != nil && uuid == t.turn.head {
			t.turn.done = true
			if t.client != nil {
				t.client.completedWithoutResult(s.Turn())
			}
		}
	}
}

// replay handles the echo of a user's message: the runtime has taken it.
func (t *translator) replay(ln *line) {
	m := &t.mail
	txt := ln.Message.Content.joined()
	if i := slices.IndexFunc(m.untold, func(l letter) bool { return l.uuid == ln.UUID }); i >= 0 {
		l := m.untold[i]
		m.untold = slices.Delete(m.untold, i, i+1)
		if s := t.l.Turn(); s != nil {
			s.Emit(event.UserMessage{MessageID: l.id, Text: txt, Via: l.via})
		}
		return
	}
	if l, ok := m.pick(ln.UUID); ok {
		if !l.known {
			l.text, l.known = txt, true
		}
		if t.l.Turn() == nil {
			m.taking = append(m.taking, l)
		} else {
			t.tell(l)
			t.queue()
		}
		return
	}
	// In a transcript without lifecycles the echo is all there is.
	if t.client == nil && !m.spoken && ln.UUID != "" && t.l.Turn() != nil && !strings.HasPrefix(txt, "<local-command") {
		t.tell(letter{id: ln.UUID, uuid: ln.UUID, text: txt, known: true})
	}
}
