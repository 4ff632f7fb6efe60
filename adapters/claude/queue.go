package claude

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// queuedMessage is a message that no turn has taken yet. On the wire it has a
// uuid.
type queuedMessage struct {
	id, uuid    string
	text        string
	attachments []event.Attachment
	textKnown   bool
	startsTurn  bool // sent while nothing ran or waited, so it starts a turn alone
	via         event.Via
	internal    bool // the adapter's own command, which no event reports
	priority    adapters.Priority
}

// rank orders messages by their priority.
func (l queuedMessage) rank() int {
	switch l.priority {
	case adapters.PriorityNow:
		return 0
	case adapters.PriorityLater:
		return 2
	}
	return 1
}

// messageQueue tracks which messages wait and which ones the next turn takes.
// Newer runtimes report it (command_lifecycle). Older ones echo messages, and a
// turn takes the messages echoed before it and the next one; this rule was
// observed, not documented.
type messageQueue struct {
	waiting      []queuedMessage
	started      []queuedMessage // started by the runtime, but their turn has not begun
	awaitingText []queuedMessage // taken, but their text is not known yet
	hasLifecycle bool            // the runtime reports lifecycles
	echoed       []string        // uuids of the newest messages that only an echo reported
	emitted      []string        // the ids last emitted
}

// enqueue adds a message of the client.
func (m *messageQueue) enqueue(l queuedMessage, idle bool) {
	l.textKnown = true
	l.startsTurn = idle && len(m.waiting) == 0 && len(m.started) == 0
	m.waiting = append(m.waiting, l)
}

// hasMessages reports whether messages wait for a turn to begin.
func (m *messageQueue) hasMessages() bool { return len(m.waiting)+len(m.started) > 0 }

// hasClientMessages reports whether messages of the client wait for a turn to
// begin. A lost command of the adapter is not a lost message.
func (m *messageQueue) hasClientMessages() bool {
	theirs := func(l queuedMessage) bool { return !l.internal }
	return slices.ContainsFunc(m.waiting, theirs) || slices.ContainsFunc(m.started, theirs)
}

// knowsNext reports whether the message that starts the next turn is known
// although the runtime does not report it.
func (m *messageQueue) knowsNext() bool { return !m.hasLifecycle && len(m.waiting) > 0 }

// waitingIDs returns the ids of the messages that wait behind a turn.
func (m *messageQueue) waitingIDs() []string {
	var ids []string
	for _, l := range m.waiting {
		if !l.startsTurn && !l.internal {
			ids = append(ids, l.id)
		}
	}
	return ids
}

// takeForTurn removes and returns the messages of the turn that begins. Without
// lifecycles these are the messages that were echoed, and the next one: of
// messages that it merges, the runtime echoes all but the last before the turn. If
// onlyEchoed is set, these are the messages that were echoed.
func (m *messageQueue) takeForTurn(onlyEchoed bool) []queuedMessage {
	taken := m.started
	m.started = nil
	if m.hasLifecycle || len(m.waiting) == 0 || onlyEchoed && len(taken) == 0 {
		return taken
	}
	next := 0
	for i, l := range m.waiting[1:] {
		if l.rank() < m.waiting[next].rank() {
			next = i + 1
		}
	}
	taken = append(taken, m.waiting[next])
	m.waiting = slices.Delete(m.waiting, next, next+1)
	return taken
}

// isStarted reports whether a message waits for its turn to begin.
func (m *messageQueue) isStarted(uuid string) bool {
	return slices.ContainsFunc(m.started, func(l queuedMessage) bool { return l.uuid == uuid })
}

// takeByUUID removes and returns a waiting message.
func (m *messageQueue) takeByUUID(uuid string) (queuedMessage, bool) {
	i := slices.IndexFunc(m.waiting, func(l queuedMessage) bool { return l.uuid == uuid })
	if i < 0 {
		return queuedMessage{}, false
	}
	l := m.waiting[i]
	m.waiting = slices.Delete(m.waiting, i, i+1)
	return l, true
}

// handleLifecycle handles a command_lifecycle message.
func (t *translator) handleLifecycle(uuid, state string) {
	m := &t.queue
	m.hasLifecycle = true
	switch state {
	case "queued":
		if t.live == nil {
			m.waiting = append(m.waiting, queuedMessage{id: uuid, uuid: uuid, startsTurn: t.l.Turn() == nil && !m.hasMessages()})
			if t.l.Ready() {
				t.emitQueue()
			}
		}
	case "started":
		l, ok := m.takeByUUID(uuid)
		switch {
		case !ok && (t.live != nil || m.isStarted(uuid)):
			return // already taken, or not ours
		case !ok:
			l = queuedMessage{id: uuid, uuid: uuid}
		}
		if t.turn.done {
			t.endWithoutResult(resultMissing()) // the message is for the next turn
		}
		if t.l.Turn() != nil {
			t.messageTaken(l)
			t.emitQueue()
		} else {
			m.started = append(m.started, l)
		}
	case "completed", "cancelled":
		if _, ok := m.takeByUUID(uuid); ok {
			t.emitQueue()
		}
		m.started = slices.DeleteFunc(m.started, func(l queuedMessage) bool { return l.uuid == uuid })
		if s := t.l.Turn(); s != nil && uuid == t.turn.headUUID {
			t.turn.done = true
			if t.live != nil {
				t.live.completedWithoutResult(s.Turn())
			}
		}
	}
}

// handleEcho handles the echo of a user's message, which means that the runtime
// has accepted it.
func (t *translator) handleEcho(ln *line) {
	m := &t.queue
	txt := ln.Message.Content.joined()
	if i := slices.IndexFunc(m.awaitingText, func(l queuedMessage) bool { return l.uuid == ln.UUID }); i >= 0 {
		l := m.awaitingText[i]
		m.awaitingText = slices.Delete(m.awaitingText, i, i+1)
		if s := t.l.Turn(); s != nil {
			s.Emit(event.UserMessage{MessageID: l.id, Text: txt, Via: l.via})
		}
		return
	}
	if l, ok := m.takeByUUID(ln.UUID); ok {
		if !l.textKnown {
			l.text, l.textKnown = txt, true
		}
		if t.l.Turn() == nil {
			m.started = append(m.started, l)
		} else {
			t.messageTaken(l)
			t.emitQueue()
		}
		return
	}
	// In a transcript without lifecycles only the echo reports the message.
	if t.live == nil && !m.hasLifecycle && ln.UUID != "" && t.l.Turn() != nil && !strings.HasPrefix(txt, "<local-command") && !slices.Contains(m.echoed, ln.UUID) {
		m.echoed = appendBounded(m.echoed, ln.UUID)
		t.messageTaken(queuedMessage{id: ln.UUID, uuid: ln.UUID, text: txt, textKnown: true})
	}
}
