package claude

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// stream0 is the message of the main agent that streams. (Sub-agents never
// stream: their messages come whole.)
type stream0 struct {
	id      string // the model's message
	seen    bool   // message_start was seen, ever
	running bool   // and message_stop has not followed
	said    bool   // why it ends was said
	kind    word   // of the block at hand
	index   int    // of the block at hand
	taken   bool   // its assistant line came
	text    digest // its text so far
	name    string // the key of block named
	named   int
	hidden  bool     // it is reasoning that has shown nothing yet
	past    []string // messages of earlier turns: what still comes of them is late
	mine    []string // messages of this turn
}

const maxPast = 64

// key names a block within the session.
func (m *stream0) key(index int) string {
	if m.name == "" || m.named != index {
		m.name, m.named = m.id+":"+strconv.Itoa(index), index
	}
	return m.name
}

// digest stands for a text without keeping it: a turn may say a lot.
type digest struct {
	n int
	h maphash.Hash
}

func (d *digest) add(s string) {
	d.n += len(s)
	_, _ = d.h.WriteString(s)
}

func (d *digest) reset() {
	d.n = 0
	d.h.Reset()
}

// begins reports whether a text begins with the digested one.
func (d *digest) begins(s string) bool {
	return len(s) >= d.n && maphash.String(d.h.Seed(), s[:d.n]) == d.h.Sum64()
}

// is reports whether a text is the digested one.
func (d *digest) is(s string) bool { return len(s) == d.n && d.begins(s) }

// endTurn forgets the message and makes those of the turn past ones.
func (m *stream0) endTurn() {
	m.past = append(m.past[:0], m.mine...)
	m.mine = m.mine[:0]
	m.running = false
}

func (m *stream0) note(id string) {
	if id == "" || slices.Contains(m.mine, id) {
		return
	}
	if len(m.mine) == maxPast {
		m.mine = append(m.mine[:0], m.mine[1:]...)
	}
	m.mine = append(m.mine, id)
}

func (m *stream0) late(id string) bool { return slices.Contains(m.past, id) }

// streamEvent handles a piece of the model's stream.
func (t *translator) streamEvent(ln *line, b []byte) {
	m, ev := &t.open, &ln.Event
	if ln.ParentToolUseID.get() != "" {
		return // of a sub-agent, whose message comes whole too
	}
	msg := ln.APIMessageID.get()
	if ev.Type == "message_start" {
		msg = ev.Message.ID
	}
	if m.late(msg) || m.seen && !m.running && ev.Type != "message_start" && ev.Type != "ping" {
		if !streamTypes[ev.Type] {
			t.unknown(b)
		}
		return // late: its turn or its message has ended
	}
	if msg != "" && m.running && msg != m.id && ev.Type != "message_start" {
		return // of a message that was abandoned
	}
	s := t.scope(ln)
	if s == nil {
		return
	}
	t.turn.retrying = false
	if !m.seen { // a transcript that begins in the middle of a message
		m.id, m.name, m.seen, m.running = msg, "", true, true
	}
	switch ev.Type {
	case "message_start":
		t.retract(s)
		m.id, m.name, m.seen, m.running, m.kind, m.said = ev.Message.ID, "", true, true, "", false
		m.note(m.id)
		t.used(ev.Message.Usage)
	case "content_block_start":
		m.index, m.kind, m.taken, m.hidden = ev.Index, ev.Block.Type, false, true
		m.text.reset()
		switch ev.Block.Type {
		case "text":
			t.piece(s, ev.Index, ev.Block.Text)
		case "thinking", "redacted_thinking":
			s.Emit(event.Thinking{})
			t.thought(s, ev.Index, ev.Block.Thinking)
		}
	case "content_block_delta":
		switch ev.Delta.Type {
		case "text_delta":
			t.piece(s, ev.Index, ev.Delta.Text)
		case "thinking_delta":
			t.thought(s, ev.Index, ev.Delta.Thinking)
		case "signature_delta", "input_json_delta", "citations_delta", "compaction_delta":
			// Ignored by name, see doc.go.
		default:
			t.unknown(b)
		}
	case "content_block_stop":
		switch {
		case m.kind != "text":
			s.ThinkingDone()
		case m.taken:
			s.BlockEnd(m.key(m.index), event.BlockComplete, "")
		}
	case "message_delta":
		t.used(ev.Usage)
		stop := string(ev.Delta.StopReason)
		m.said = stop != ""
		switch stop {
		case "", "end_turn", "tool_use", "stop_sequence", "pause_turn":
		default: // the runtime goes on, and may ask again; the reader sees a text that breaks off
			s.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: "the model stopped early: " + stop, Raw: clone(b)})
		}
	case "message_stop":
		t.messageStop(s, ln)
	case "error":
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: string(ev.Error.Message), Raw: clone(b)})
	case "ping":
	default:
		t.unknown(b)
	}
}

var streamTypes = map[word]bool{"message_start": true, "content_block_start": true, "content_block_delta": true,
	"content_block_stop": true, "message_delta": true, "message_stop": true, "error": true, "ping": true}

func (t *translator) piece(s *ledger.Scope, index int, p string) {
	if p == "" {
		return
	}
	m := &t.open
	m.index, m.kind = index, "text"
	m.text.add(p)
	s.Delta(m.key(index), m.id, p)
}

func (t *translator) thought(s *ledger.Scope, index int, p string) {
	if p == "" {
		return
	}
	m := &t.open
	m.index, m.kind, m.hidden = index, "thinking", false
	m.text.add(p)
	s.Thinking(m.key(index), p)
}

// messageStop closes what the message left open. Blocks that the runtime
// abandoned are retracted, unless the turn was interrupted: then they stay.
func (t *translator) messageStop(s *ledger.Scope, ln *line) {
	m := &t.open
	m.running = false
	if a := ln.Abandoned; a != nil && m.kind == "thinking" && m.index >= a.From && !t.turn.interrupted {
		s.ThinkingRetract(m.key(m.index))
	}
	for _, key := range s.OpenBlocks() {
		status := event.BlockComplete
		if a := ln.Abandoned; a != nil && blockIndex(key) >= a.From {
			status = event.BlockRetracted
			if t.turn.interrupted {
				status = event.BlockInterrupted
			}
		}
		s.BlockEnd(key, status, "")
	}
}

func blockIndex(key string) int {
	n, err := strconv.Atoi(key[strings.LastIndexByte(key, ':')+1:])
	if err != nil {
		return 0
	}
	return n
}

// retract takes back what an unfinished message said: another one says it again.
func (t *translator) retract(s *ledger.Scope) {
	s.ThinkingDone()
	if m := &t.open; m.kind == "thinking" && !m.taken {
		s.ThinkingRetract(m.key(m.index))
	}
	for _, key := range s.OpenBlocks() {
		s.BlockEnd(key, event.BlockRetracted, "")
	}
}

// assistant handles a whole message or, mostly, one block of it.
func (t *translator) assistant(ln *line, b []byte) {
	sub := ln.ParentToolUseID.get() != ""
	if !sub && t.open.late(ln.Message.ID) {
		return
	}
	s := t.scope(ln)
	if s == nil {
		return
	}
	if !sub {
		t.turn.retrying = false
		t.used(ln.Message.Usage)
		t.open.note(ln.Message.ID)
	}
	if ln.APIError || ln.Error != "" {
		t.apiError(ln, s, sub)
		return
	}
	if ln.Message.Model == "<synthetic>" && ln.LocalSource != "" && t.turn.uncompacted {
		return // what the notice of the failed compaction has told
	}
	if ln.Message.Model == "<synthetic>" && ln.LocalSource == "" {
		// The runtime's own words (such as: no response requested): not the model's.
		if txt := ln.Message.Content.joined(); txt != "" {
			s.Emit(event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning, Text: txt})
		}
		return
	}
	blocks := ln.Message.Content.Blocks
	if txt := ln.Message.Content.Text; txt != "" {
		blocks = []block{{Type: "text", Text: text(txt)}}
	}
	for i := range blocks {
		t.block(s, ln, &blocks[i], sub, b)
	}
}

// block handles one block of an assistant message.
func (t *translator) block(s *ledger.Scope, ln *line, bl *block, sub bool, b []byte) {
	m := &t.open
	streamed := !sub && m.running && (m.id == ln.Message.ID || m.id == "") && !m.taken
	if !sub && m.running && m.id != "" && m.id != ln.Message.ID {
		// The stream broke and the runtime asked again without streaming.
		t.retract(s)
		m.running = false
	}
	switch bl.Type {
	case "text":
		if !streamed || m.kind != "text" {
			t.whole(s, ln.Message.ID, string(bl.Text))
			return
		}
		m.taken = true
		key, status, txt := m.key(m.index), event.BlockComplete, ""
		switch {
		case !m.text.is(string(bl.Text)):
			if !s.BlockOpen(key) {
				t.whole(s, ln.Message.ID, string(bl.Text))
				return
			}
			status, txt = event.BlockReplaced, string(bl.Text)
		case ln.Aborted:
			status = event.BlockInterrupted
		case !t.mail.spoken:
			// An older version does not tell a finished block from one that was
			// cut short by a stop: only the finished one has a stop of its own.
			return
		}
		s.BlockEnd(key, status, txt)
	case "thinking":
		if streamed && m.kind == "thinking" && !m.hidden {
			m.taken = true
			if whole := string(bl.Thinking); m.text.begins(whole) && len(whole) > m.text.n {
				s.Thinking(m.key(m.index), whole[m.text.n:])
			}
			s.ThinkingDone()
			return
		}
		if bl.Thinking == "" {
			s.Emit(event.Thinking{})
			return
		}
		s.Thinking("whole", string(bl.Thinking))
		s.ThinkingDone()
	case "redacted_thinking":
		// Hidden: nothing to show.
	default:
		switch kind := string(bl.Type); {
		case slices.Contains(callBlocks, kind):
			t.toolUse(s, ln.Message.ID, bl)
		case slices.Contains(resultBlocks, kind):
			t.toolResult(s, ln, bl, b)
		case slices.Contains(quietBlocks, kind):
			// Ignored by name, see doc.go.
		default:
			t.unknown(b)
		}
	}
}

// whole emits a block that was not streamed: one delta and its end.
func (t *translator) whole(s *ledger.Scope, messageID, txt string) {
	if txt == "" {
		return
	}
	s.Delta("whole", messageID, txt)
	status := event.BlockComplete
	if t.ln.Aborted {
		status = event.BlockInterrupted
	}
	s.BlockEnd("whole", status, "")
}
