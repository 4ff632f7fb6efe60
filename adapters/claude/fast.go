package claude

import (
	"bytes"

	"github.com/turnspec/turnspec/adapters/internal/fastjson"
)

// The fast path reads deltas with package fastjson into the same fields that
// the typed decoder fills. Tests on the corpus and a fuzz test check that both
// agree.

var deltaMark = []byte(`"content_block_delta"`)

// matchTemplate reads a delta that differs from the current line only in its
// text.
func (l *line) matchTemplate(b []byte) bool {
	txt, ok := l.template.Match(b)
	if d := &l.Event.Delta; ok && d.Type == "text_delta" {
		d.Text = txt
	} else if ok {
		d.Thinking = txt
	}
	return ok
}

// decodeFast reads a delta into a line that was reset. If it returns false, the
// caller must reset the line again.
func (l *line) decodeFast(b []byte) bool {
	l.template.Clear()
	if len(b) > fastjson.MaxLine || !bytes.Contains(b, deltaMark) {
		return false
	}
	s := fastjson.New(b)
	for o := s.Object(); s.Next(&o); {
		switch string(o.Key) {
		case "type":
			s.MarkSeen(&o, 1)
			s.Bad = string(s.Plain()) != "stream_event" || s.Bad
			l.Type = "stream_event"
		case "event":
			s.MarkSeen(&o, 2)
			l.scanEvent(&s)
		case "session_id":
			s.MarkSeen(&o, 4)
			l.SessionID.scan(&s)
		case "parent_tool_use_id":
			s.MarkSeen(&o, 8)
			l.ParentToolUseID.scan(&s)
		case "uuid":
			s.MarkSeen(&o, 16)
			s.PlainHole() // no event of a delta uses it
		case "api_message_id":
			s.MarkSeen(&o, 32)
			l.APIMessageID.scan(&s)
		default:
			return false
		}
	}
	if !s.Done() || l.Type == "" || l.Event.Type == "" || l.Event.Delta.Type == "" {
		return false
	}
	if d := &l.Event.Delta; (d.Type == "text_delta") == (d.Text != "") && (d.Type == "thinking_delta") == (d.Thinking != "") {
		l.template.Set(&s)
	}
	return true
}

func (i *id) scan(s *fastjson.Scanner) {
	if s.Null() {
		i.ok = false
		return
	}
	raw := s.Plain()
	i.ok = true
	if string(raw) != i.s {
		i.s = string(raw)
	}
}

func (l *line) scanEvent(s *fastjson.Scanner) {
	for o := s.Object(); s.Next(&o); {
		switch string(o.Key) {
		case "type":
			s.MarkSeen(&o, 1)
			s.Bad = string(s.Plain()) != "content_block_delta" || s.Bad
			l.Event.Type = "content_block_delta"
		case "index":
			s.MarkSeen(&o, 2)
			l.Event.Index = int(s.Number())
		case "delta":
			s.MarkSeen(&o, 4)
			l.scanDelta(s)
		default:
			s.Bad = true
		}
	}
}

func (l *line) scanDelta(s *fastjson.Scanner) {
	d := &l.Event.Delta
	for o := s.Object(); s.Next(&o); {
		switch string(o.Key) {
		case "type":
			s.MarkSeen(&o, 1)
			switch string(s.Plain()) {
			case "text_delta":
				d.Type = "text_delta"
			case "thinking_delta":
				d.Type = "thinking_delta"
			default:
				s.Bad = true
			}
		case "text":
			s.MarkSeen(&o, 2)
			d.Text = s.TextHole()
		case "thinking":
			s.MarkSeen(&o, 4)
			d.Thinking = s.TextHole()
		default:
			s.Bad = true
		}
	}
}
