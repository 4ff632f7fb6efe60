package claude

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Deltas are nearly all lines of a stream. fast reads those that hold nothing
// but what it knows, in any order of keys, into the same fields that the typed
// decoder fills; anything unusual (other keys, a key twice, surrogates, invalid
// text) makes it give up, and the typed decoder reads the line. That both agree
// is tested on the corpus and fuzzed.

var deltaMark = []byte(`"content_block_delta"`)

// maxFast bounds the lines that are tried: a long one is none of many.
const maxFast = 16 << 10

// scanner walks over one line. Once bad it stays bad.
type scanner struct {
	b   []byte
	i   int
	bad bool
}

func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

// eat takes one character, after spaces.
func (s *scanner) eat(c byte) bool {
	s.space()
	if s.bad || s.i >= len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) want(c byte) {
	if !s.eat(c) {
		s.bad = true
	}
}

// str takes a string and returns what stands between its quotes, as it stands,
// and whether it holds escapes. Control characters and invalid text are bad.
func (s *scanner) str() (raw []byte, escaped bool) {
	s.want('"')
	if s.bad {
		return nil, false
	}
	from, ascii := s.i, true
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			raw = s.b[from:s.i]
			s.i++
			s.bad = s.bad || !ascii && !utf8.Valid(raw)
			return raw, escaped
		case c == '\\':
			escaped = true
			s.i++
		case c < ' ':
			s.bad = true
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.bad = true
	return nil, false
}

// plain takes a string without escapes.
func (s *scanner) plain() []byte {
	raw, escaped := s.str()
	s.bad = s.bad || escaped
	return raw
}

// text takes a string and undoes its escapes.
func (s *scanner) text() string {
	raw, escaped := s.str()
	if s.bad || !escaped {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++ // there is one: str has stepped over it
		switch c := raw[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			if i+4 >= len(raw) {
				s.bad = true
				return ""
			}
			n, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
			if err != nil || n >= 0xD800 && n < 0xE000 {
				s.bad = true // surrogates are the typed decoder's
				return ""
			}
			out = utf8.AppendRune(out, rune(n))
			i += 4
		default:
			s.bad = true
			return ""
		}
	}
	return string(out)
}

// number takes a small number without sign, point or leading zeros.
func (s *scanner) number() (n int) {
	s.space()
	from := s.i
	for ; s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' && s.i-from < 7; s.i++ {
		n = n*10 + int(s.b[s.i]-'0')
	}
	if s.i == from || s.b[from] == '0' && s.i-from > 1 {
		s.bad = true
	}
	return n
}

// members calls f with each key of an object. A key twice is bad.
func (s *scanner) members(f func(key []byte) (bit uint)) {
	s.want('{')
	var seen uint
	for !s.bad {
		key := s.plain()
		s.want(':')
		if s.bad {
			return
		}
		bit := f(key)
		if bit == 0 || seen&bit != 0 {
			s.bad = true
			return
		}
		seen |= bit
		if s.eat('}') {
			return
		}
		s.want(',')
	}
}

func (s *scanner) id(i *id) {
	s.space()
	if bytes.HasPrefix(s.b[s.i:], []byte("null")) {
		s.i += 4
		i.ok = false
		return
	}
	raw := s.plain()
	i.ok = true
	if string(raw) != i.s {
		i.s = string(raw)
	}
}

// fast reads a delta into a line that was reset. When it returns false the line
// must be reset again.
func (l *line) fast(b []byte) bool {
	if len(b) > maxFast || !bytes.Contains(b, deltaMark) {
		return false
	}
	s := scanner{b: b}
	s.members(func(key []byte) uint {
		switch string(key) {
		case "type":
			if string(s.plain()) != "stream_event" {
				s.bad = true
			}
			l.Type = "stream_event"
			return 1
		case "event":
			l.fastEvent(&s)
			return 2
		case "session_id":
			s.id(&l.SessionID)
			return 4
		case "parent_tool_use_id":
			s.id(&l.ParentToolUseID)
			return 8
		case "uuid":
			s.plain() // no event of a delta needs it
			return 16
		case "api_message_id":
			s.id(&l.APIMessageID)
			return 32
		}
		return 0
	})
	s.space()
	return !s.bad && s.i == len(b) && l.Type != "" && l.Event.Type != "" && l.Event.Delta.Type != ""
}

func (l *line) fastEvent(s *scanner) {
	s.members(func(key []byte) uint {
		switch string(key) {
		case "type":
			if string(s.plain()) != "content_block_delta" {
				s.bad = true
			}
			l.Event.Type = "content_block_delta"
			return 1
		case "index":
			l.Event.Index = s.number()
			return 2
		case "delta":
			l.fastDelta(s)
			return 4
		}
		return 0
	})
}

func (l *line) fastDelta(s *scanner) {
	d := &l.Event.Delta
	s.members(func(key []byte) uint {
		switch string(key) {
		case "type":
			switch string(s.plain()) {
			case "text_delta":
				d.Type = "text_delta"
			case "thinking_delta":
				d.Type = "thinking_delta"
			default:
				s.bad = true
			}
			return 1
		case "text":
			d.Text = s.text()
			return 2
		case "thinking":
			d.Thinking = s.text()
			return 4
		}
		return 0
	})
}
