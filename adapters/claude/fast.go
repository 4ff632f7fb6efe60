package claude

import (
	"bytes"

	"github.com/turnspec/turnspec/adapters/internal/fastjson"
)

// fast reads the deltas of a stream without the decoder, see package scan, into
// the same fields that the typed decoder fills. That both agree is tested on the
// corpus and fuzzed.

var deltaMark = []byte(`"content_block_delta"`)

// again reads a delta that is like the one in the line, with another text.
func (l *line) again(b []byte) bool {
	txt, ok := l.like.Match(b)
	if d := &l.Event.Delta; ok && d.Type == "text_delta" {
		d.Text = txt
	} else if ok {
		d.Thinking = txt
	}
	return ok
}

// fast reads a delta into a line that was reset. When it returns false the line
// must be reset again.
func (l *line) fast(b []byte) bool {
	l.like.Clear()
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
			l.fastEvent(&s)
		case "session_id":
			s.MarkSeen(&o, 4)
			l.SessionID.fast(&s)
		case "parent_tool_use_id":
			s.MarkSeen(&o, 8)
			l.ParentToolUseID.fast(&s)
		case "uuid":
			s.MarkSeen(&o, 16)
			s.PlainHole() // no event of a delta needs it
		case "api_message_id":
			s.MarkSeen(&o, 32)
			l.APIMessageID.fast(&s)
		default:
			return false
		}
	}
	if !s.Done() || l.Type == "" || l.Event.Type == "" || l.Event.Delta.Type == "" {
		return false
	}
	if d := &l.Event.Delta; (d.Type == "text_delta") == (d.Text != "") && (d.Type == "thinking_delta") == (d.Thinking != "") {
		l.like.Set(&s)
	}
	return true
}

func (i *id) fast(s *fastjson.Scanner) {
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

func (l *line) fastEvent(s *fastjson.Scanner) {
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
			l.fastDelta(s)
		default:
			s.Bad = true
		}
	}
}

func (l *line) fastDelta(s *fastjson.Scanner) {
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
