package opencode

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Transcribe implements adapters.Transcriber. It also reads events alone, without the
// lines around them, and stored messages. The session is that of the first reply or event that
// names one.
func (Adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return ledger.Transcribe(runtimeName, sessionID, emit, func(l *ledger.Ledger) (func([]byte), func()) {
		t := newTranslator(l, nil)
		return t.handleLine, t.endStoredTurn
	})
}

// storedMessage is a message with all its parts, as GET /session/ID/message lists them.
type storedMessage struct {
	Info  info   `json:"info"`
	Parts []part `json:"parts"`
}

// handleStoredReply handles a reply in a transcript: that which opens the session.
func (t *translator) handleStoredReply(m *line) {
	s := lenient.Decode[info](m.Body)
	if !isSession(s) {
		return
	}
	if !t.named && t.l.Turn() == nil {
		t.transcriptOpened(s)
		t.named = true
	}
}

func isSession(s info) bool { return strings.HasPrefix(string(s.ID), "ses") && s.Directory != "" }

// handleBare handles an event, a session or a stored message without a line around it, or the
// export of a session. It reports whether the line is one of these.
func (t *translator) handleBare(b []byte) bool {
	if e := eventOf(b); e.Type != "" && e.Properties.Kind() == '{' {
		t.handleEvent(e, b)
		return true
	}
	if s := lenient.Decode[info](b); isSession(s) {
		if t.main == nil {
			t.transcriptOpened(s)
		}
		return true
	}
	x := lenient.Decode[struct {
		storedMessage
		Messages []storedMessage `json:"messages"`
	}](b)
	switch {
	case x.Info.Role != "":
		t.handleStored(x.storedMessage, b)
	case isSession(x.Info):
		if t.main == nil {
			t.transcriptOpened(x.Info)
		}
		for _, m := range x.Messages {
			t.handleStored(m, b)
		}
	default:
		return false
	}
	return true
}

// handleStored handles a stored message. A turn ends with the next message of the user.
func (t *translator) handleStored(m storedMessage, b []byte) {
	id := t.transcriptSession(string(m.Info.Session))
	a := t.agents[id]
	if a == nil {
		t.noticeOtherSession(id, "message.updated")
		return
	}
	begun := m.Info
	begun.Time.Completed = 0
	if m.Info.Role == "user" {
		t.endStoredTurn()
		t.userMessageCame(a, begun)
	} else {
		t.replyUpdated(a, begun)
	}
	a.old = true
	t.stored = true
	for _, p := range m.Parts {
		p.MessageID = m.Info.ID
		t.partUpdated(a, p, "", b)
	}
	if m.Info.Role != "user" {
		m.Info.Time.Completed = max(m.Info.Time.Completed, 1)
		t.replyUpdated(a, m.Info)
	}
}

// endStoredTurn ends a turn of stored messages, which have no event for its end.
func (t *translator) endStoredTurn() {
	if t.stored && t.l.Turn() != nil {
		t.flushUser(t.main)
		t.finishTurn()
	}
	t.stored = false
}

// transcriptOpened makes a session that of the transcript.
func (t *translator) transcriptOpened(s info) {
	t.sessionOpened(s)
	t.l.SessionReady(event.SessionReady{Runtime: runtimeName, RuntimeVersion: string(s.Version), ProviderSessionID: string(s.ID), Cwd: string(s.Directory)})
}

// transcriptSession returns the session of an event that names it, or none. Events of versions
// before 1.2 may name none, and a transcript may begin after its session.
func (t *translator) transcriptSession(id string) string {
	if t.main == nil {
		s := info{ID: lenient.Str(id)}
		if t.created.ID == s.ID {
			s = t.created
		}
		t.transcriptOpened(s)
	}
	if id == "" || t.main.id == "" {
		return t.main.id
	}
	return id
}

// sessionContent are the events that are missed if their session is not shown.
var sessionContent = []string{"message.updated", "message.part.updated", "message.part.delta", "permission.asked", "question.asked", "session.error"}

// noticeOtherSession reports once that the events of a session are not shown, unless a reply has
// named that of the transcript.
func (t *translator) noticeOtherSession(id, kind string) {
	if t.beginsLate() && slices.Contains(sessionContent, kind) && !slices.Contains(t.others, id) {
		t.others = remember(t.others, id)
		t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage, "the transcript has events of another session ("+id+"), which are not shown", nil)
	}
}

// beginsLate reports whether the beginning of a transcript may be missing: no reply in it has
// opened the session.
func (t *translator) beginsLate() bool { return t.live == nil && !t.named }

// beginTranscriptTurn begins a turn for a part of a message if none runs, because the
// transcript begins within it.
func (t *translator) beginTranscriptTurn(a *agent, message string) {
	if t.beginsLate() && !a.sub && t.l.Turn() == nil && !slices.Contains(t.users, message) {
		t.beginTurn()
	}
}

// Recognizes reports whether a line is one of OpenCode.
func (Adapter) Recognizes(b []byte) bool {
	var m line
	if json.Unmarshal(b, &m, lenient.Options) != nil {
		return false
	}
	if strings.HasPrefix(string(lenient.Decode[properties](m.Data).ID), "evt_") {
		return true
	}
	e := eventOf(m.Data)
	if m.Data == nil {
		e = eventOf(b)
	}
	return isKnown(string(e.Type)) && e.Properties.Kind() == '{'
}
