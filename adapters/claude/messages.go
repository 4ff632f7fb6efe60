package claude

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// messageStream is the main agent's streaming message. Messages of sub-agents
// arrive whole.
type messageStream struct {
	id               string // the model's message
	seen             bool   // a message_start was seen in this session
	running          bool   // message_stop has not followed
	stopReasonSeen   bool   // the stop reason was seen
	kind             word   // of the current block
	index            int    // of the current block
	wholeSeen        bool   // its assistant line arrived
	text             digest // its text so far
	keyName          string // caches the key of block keyIndex
	keyIndex         int
	hidden           bool     // reasoning that has shown no text yet
	toolID           string   // of the current block, if it is a call
	toolResultSeen   bool     // a tool's result has followed
	lastTurnMessages []string // messages of the last turn; their lines are late
	turnMessages     []string // messages of this turn
}

const maxMessages = 64

// blockKey returns a block's key, which is unique within the session.
func (m *messageStream) blockKey(index int) string {
	if m.keyName == "" || m.keyIndex != index {
		m.keyName, m.keyIndex = m.id+":"+strconv.Itoa(index), index
	}
	return m.keyName
}

// digest stands for a text without storing it, so that memory stays bounded.
type digest struct {
	n int
	h maphash.Hash
}

func (d *digest) write(s string) {
	d.n += len(s)
	_, _ = d.h.WriteString(s)
}

func (d *digest) reset() {
	d.n = 0
	d.h.Reset()
}

// isPrefixOf reports whether s starts with the digested text.
func (d *digest) isPrefixOf(s string) bool {
	return len(s) >= d.n && maphash.String(d.h.Seed(), s[:d.n]) == d.h.Sum64()
}

// equals reports whether s is the digested text.
func (d *digest) equals(s string) bool { return len(s) == d.n && d.isPrefixOf(s) }

// endTurn ends the message. Lines of this turn's messages are late from now on.
func (m *messageStream) endTurn() {
	m.lastTurnMessages = append(m.lastTurnMessages[:0], m.turnMessages...)
	m.turnMessages = m.turnMessages[:0]
	m.running = false
}

func (m *messageStream) addMessage(id string) {
	if id == "" || slices.Contains(m.turnMessages, id) {
		return
	}
	if len(m.turnMessages) == maxMessages {
		m.turnMessages = append(m.turnMessages[:0], m.turnMessages[1:]...)
	}
	m.turnMessages = append(m.turnMessages, id)
}

func (m *messageStream) isLate(id string) bool { return slices.Contains(m.lastTurnMessages, id) }

// handleStreamEvent handles an event of the model's stream.
func (t *translator) handleStreamEvent(ln *line, b []byte) {
	m, ev := &t.stream, &ln.Event
	if ln.ParentToolUseID.get() != "" {
		return // a sub-agent's message also arrives whole
	}
	msg := ln.APIMessageID.get()
	if ev.Type == "message_start" {
		msg = ev.Message.ID
	}
	if m.isLate(msg) || m.seen && !m.running && ev.Type != "message_start" && ev.Type != "ping" {
		if !streamTypes[ev.Type] {
			t.l.Unknown(string(t.ln.Type), b)
		}
		if !m.isLate(msg) { // an API error has ended the message; its tokens are spent
			t.noteContext(ev.Usage)
		}
		return // late: its turn or its message has ended
	}
	if msg != "" && m.running && msg != m.id && ev.Type != "message_start" {
		return // belongs to an abandoned message
	}
	if ev.Type == "message_start" {
		t.startTurnWithoutInit(msg)
	}
	s := t.lineScope(ln)
	if s == nil {
		return
	}
	t.turn.retrying = false
	if !m.seen { // a transcript that begins within a message
		m.id, m.keyName, m.seen, m.running = msg, "", true, true
	}
	switch ev.Type {
	case "message_start":
		t.retractMessage(s)
		m.id, m.keyName, m.seen, m.running, m.kind, m.stopReasonSeen, m.toolResultSeen = ev.Message.ID, "", true, true, "", false, false
		m.addMessage(m.id)
		t.noteContext(ev.Message.Usage)
	case "content_block_start":
		m.index, m.kind, m.wholeSeen, m.hidden = ev.Index, ev.Block.Type, false, true
		m.text.reset()
		switch ev.Block.Type {
		case "text":
			t.appendText(s, ev.Index, ev.Block.Text)
		case "thinking", "redacted_thinking":
			s.Emit(event.Thinking{})
			t.appendThinking(s, ev.Index, ev.Block.Thinking)
		default:
			if slices.Contains(toolCallBlocks, string(ev.Block.Type)) {
				m.toolID = ev.Block.ID
				s.InputStart(m.toolID, string(ev.Block.Name))
			}
		}
	case "content_block_delta":
		switch ev.Delta.Type {
		case "text_delta":
			t.appendText(s, ev.Index, ev.Delta.Text)
		case "thinking_delta":
			t.appendThinking(s, ev.Index, ev.Delta.Thinking)
		case "input_json_delta":
			if t.l.StreamInputs && m.index == ev.Index && slices.Contains(toolCallBlocks, string(m.kind)) {
				s.Input(m.toolID, inputPiece(b))
			}
		case "signature_delta", "citations_delta", "compaction_delta":
			// Ignored, see doc.go.
		default:
			t.l.Unknown(string(t.ln.Type), b)
		}
	case "content_block_stop":
		switch {
		case m.kind != "text":
			s.ThinkingDone()
		case m.wholeSeen:
			s.BlockEnd(m.blockKey(m.index), event.BlockComplete, "")
		}
	case "message_delta":
		t.noteContext(ev.Usage)
		stop := string(ev.Delta.StopReason)
		m.stopReasonSeen = stop != ""
		switch stop {
		case "", "end_turn", "tool_use", "stop_sequence", "pause_turn":
		default: // the runtime continues and may ask the model again; the text breaks off
			s.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: "the model stopped early: " + stop, Raw: event.Raw(b).Clone()})
		}
	case "message_stop":
		t.endMessage(s, ln)
	case "error":
		t.warn(string(ev.Error.Message), b)
	case "ping":
	default:
		t.l.Unknown(string(t.ln.Type), b)
	}
}

var streamTypes = map[word]bool{"message_start": true, "content_block_start": true, "content_block_delta": true,
	"content_block_stop": true, "message_delta": true, "message_stop": true, "error": true, "ping": true}

func (t *translator) appendText(s *ledger.Scope, index int, p string) {
	if p == "" {
		return
	}
	m := &t.stream
	m.index, m.kind = index, "text"
	m.text.write(p)
	s.Delta(m.blockKey(index), m.id, p)
}

func (t *translator) appendThinking(s *ledger.Scope, index int, p string) {
	if p == "" {
		return
	}
	m := &t.stream
	m.index, m.kind, m.hidden = index, "thinking", false
	m.text.write(p)
	s.Thinking(m.blockKey(index), p)
}

// inputPiece returns the piece of a tool's input in a line. Lines are decoded without it,
// because inputs are long and most sessions do not stream them.
func inputPiece(b []byte) string {
	var ln struct {
		Event struct {
			Delta struct {
				Piece lenient.Str `json:"partial_json"`
			} `json:"delta"`
		} `json:"event"`
	}
	_ = json.Unmarshal(b, &ln, lenient.Options) // another form holds no piece
	return string(ln.Event.Delta.Piece)
}

// endMessage closes what the message left open. Blocks that the runtime
// abandoned are retracted, unless the turn was interrupted.
func (t *translator) endMessage(s *ledger.Scope, ln *line) {
	m := &t.stream
	m.running = false
	if a := ln.Abandoned; a != nil && m.kind == "thinking" && m.index >= a.From && !t.turn.interrupted {
		s.ThinkingRetract(m.blockKey(m.index))
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

// retractMessage retracts the blocks of an unfinished message, because another
// one repeats them.
func (t *translator) retractMessage(s *ledger.Scope) {
	s.ThinkingDone()
	s.DropInputs()
	if t.stream.id == "" && t.stream.toolResultSeen { // without ids, a repeated message looks like the next one
		for _, key := range s.OpenBlocks() {
			s.BlockEnd(key, event.BlockComplete, "")
		}
		return
	}
	if m := &t.stream; m.kind == "thinking" && !m.wholeSeen {
		s.ThinkingRetract(m.blockKey(m.index))
	}
	for _, key := range s.OpenBlocks() {
		s.BlockEnd(key, event.BlockRetracted, "")
	}
}

// handleAssistant handles an assistant line: mostly one block of a message, or
// a whole one.
func (t *translator) handleAssistant(ln *line, b []byte) {
	sub := ln.ParentToolUseID.get() != ""
	if !sub && t.stream.isLate(ln.Message.ID) {
		return
	}
	if !sub && ln.Message.Model != "<synthetic>" {
		t.startTurnWithoutInit(ln.Message.ID)
	}
	s := t.lineScope(ln)
	if s == nil {
		return
	}
	if !sub {
		t.turn.retrying = false
		t.noteContext(ln.Message.Usage)
		t.stream.addMessage(ln.Message.ID)
	}
	if ln.APIError || ln.Error != "" {
		t.handleAPIError(ln, s, sub)
		return
	}
	if ln.Message.Model == "<synthetic>" && ln.LocalSource != "" && t.turn.compactionFailed {
		return // the notice of the failed compaction has the same text
	}
	if ln.Message.Model == "<synthetic>" && ln.LocalSource == "" {
		// Written by the runtime (such as: no response requested), not by the
		// model.
		if txt := ln.Message.Content.joined(); txt != "" {
			s.Emit(event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning, Text: txt})
		}
		return
	}
	blocks := ln.Message.Content.Blocks
	if txt := ln.Message.Content.Text; txt != "" {
		blocks = []block{{Type: "text", Text: lenient.Str(txt)}}
	}
	for i := range blocks {
		t.handleBlock(s, ln, &blocks[i], sub, b)
	}
}

// handleBlock handles one block of an assistant message.
func (t *translator) handleBlock(s *ledger.Scope, ln *line, bl *block, sub bool, b []byte) {
	m := &t.stream
	streamed := !sub && m.running && (m.id == ln.Message.ID || m.id == "") && !m.wholeSeen
	if !sub && m.running && m.id != "" && m.id != ln.Message.ID {
		// The stream broke, and the runtime asked again without streaming.
		t.retractMessage(s)
		m.running = false
	}
	switch bl.Type {
	case "text":
		if !streamed || m.kind != "text" {
			t.emitWhole(s, ln.Message.ID, string(bl.Text))
			return
		}
		m.wholeSeen = true
		key, status, txt := m.blockKey(m.index), event.BlockComplete, ""
		switch {
		case !m.text.equals(string(bl.Text)):
			if !s.BlockOpen(key) {
				t.emitWhole(s, ln.Message.ID, string(bl.Text))
				return
			}
			status, txt = event.BlockReplaced, string(bl.Text)
		case ln.Aborted:
			status = event.BlockInterrupted
		case !t.queue.hasLifecycle:
			// An older version does not mark a block that a stop cut short.
			// Only a finished block gets a content_block_stop.
			return
		}
		s.BlockEnd(key, status, txt)
	case "thinking":
		if streamed && m.kind == "thinking" && !m.hidden {
			m.wholeSeen = true
			if whole := string(bl.Thinking); m.text.isPrefixOf(whole) && len(whole) > m.text.n {
				s.Thinking(m.blockKey(m.index), whole[m.text.n:])
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
		case slices.Contains(toolCallBlocks, kind):
			t.startTool(s, ln.Message.ID, bl)
		case slices.Contains(toolResultBlocks, kind):
			t.endTool(s, ln, bl, b)
		case slices.Contains(ignoredBlocks, kind):
			// Ignored, see doc.go.
		default:
			t.l.Unknown(string(t.ln.Type), b)
		}
	}
}

// emitWhole emits a block that was not streamed: one delta and its end.
func (t *translator) emitWhole(s *ledger.Scope, messageID, txt string) {
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
