// Package fastjson reads small lines of JSON without reflection.
//
// Nearly all lines of a stream are deltas, and decoding them by reflection
// takes most of their cost. A Scanner reads lines that contain only what the
// caller expects. Anything unusual (an unknown key, a repeated key, surrogates,
// control characters, invalid UTF-8) makes the Scanner bad, and the caller
// falls back to the typed decoder. A Scanner never accepts what the typed
// decoder rejects: the packages that use it test and fuzz that both agree.
package fastjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// MaxLine bounds the lines worth trying, because long lines are rare.
const MaxLine = 16 << 10

// Scanner reads one line. Once Bad is set, it stays set.
type Scanner struct {
	Bad bool
	b   []byte
	i   int

	holes     [maxHoles]hole // see Template
	holeCount int
}

// New returns a Scanner of a line.
func New(b []byte) Scanner { return Scanner{b: b} }

// Done reports whether the whole line was read and nothing was bad.
func (s *Scanner) Done() bool {
	s.skipSpace()
	return !s.Bad && s.i == len(s.b)
}

func (s *Scanner) skipSpace() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

// accept skips spaces and one character, and reports whether the character was
// c.
func (s *Scanner) accept(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return !s.Bad
	}
	s.skipSpace()
	if s.Bad || s.i >= len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

func (s *Scanner) expect(c byte) {
	if !s.accept(c) {
		s.Bad = true
	}
}

// Object is the state of an object that is being read.
type Object struct {
	Key   []byte // the key of the current member, undecoded
	seen  uint
	begun bool
}

// Object begins an object. After each Next that returns true, the caller must
// read the member's value.
func (s *Scanner) Object() Object {
	s.expect('{')
	return Object{}
}

// Next advances to the next member.
func (s *Scanner) Next(o *Object) bool {
	if s.Bad {
		return false
	}
	if o.begun {
		if s.accept('}') {
			return false
		}
		s.expect(',')
	}
	o.begun = true
	o.Key = s.Plain()
	s.expect(':')
	return !s.Bad
}

// MarkSeen records a member by its bit. A repeated member is bad.
func (s *Scanner) MarkSeen(o *Object, bit uint) {
	s.Bad = s.Bad || o.seen&bit != 0
	o.seen |= bit
}

// specialBytes sets the high bit of each byte that is below a space, not ASCII,
// or a backslash. The byte after such a byte may be marked too, so only the
// lowest mark counts.
func specialBytes(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	below := (w - ones*' ') & ^w
	slash := w ^ ones*'\\'
	return (below | (slash-ones) & ^slash | w) & highs
}

// rawString reads a string and returns its undecoded content and whether it
// contains escapes. Control characters and invalid UTF-8 are bad.
func (s *Scanner) rawString() (raw []byte, escaped bool) {
	s.expect('"')
	if s.Bad {
		return nil, false
	}
	from := s.i
	n := bytes.IndexByte(s.b[from:], '"')
	if n < 0 {
		s.Bad = true
		return nil, false
	}
	if clean := plainPrefix(s.b[from : from+n]); clean == n {
		s.i = from + n + 1
		return s.b[from : from+n], false
	} else {
		s.i = from + clean
	}
	ascii := true
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			raw = s.b[from:s.i]
			s.i++
			s.Bad = s.Bad || !ascii && !utf8.Valid(raw)
			return raw, escaped
		case c == '\\':
			escaped = true
			s.i++
		case c < ' ':
			s.Bad = true
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.Bad = true
	return nil, false
}

// plainPrefix returns the length of the plain ASCII prefix.
func plainPrefix(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if m := specialBytes(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c >= utf8.RuneSelf || c == '\\' {
			break
		}
	}
	return i
}

// Plain reads a string without escapes and returns its content, which aliases
// the line.
func (s *Scanner) Plain() []byte {
	raw, escaped := s.rawString()
	s.Bad = s.Bad || escaped
	return raw
}

// Text reads a string and decodes its escapes.
func (s *Scanner) Text() string {
	raw, escaped := s.rawString()
	if s.Bad || !escaped {
		return string(raw)
	}
	return s.unescape(raw)
}

// TextOr is like Text, but returns old if the string equals it, which saves an
// allocation for repeated ids.
func (s *Scanner) TextOr(old string) string {
	raw, escaped := s.rawString()
	switch {
	case s.Bad:
		return ""
	case escaped:
		return s.unescape(raw)
	case string(raw) == old:
		return old
	}
	return string(raw)
}

func (s *Scanner) unescape(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++ // rawString guarantees a byte after the backslash
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
				s.Bad = true
				return ""
			}
			n, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
			if err != nil || n >= 0xD800 && n < 0xE000 {
				s.Bad = true // only the typed decoder handles surrogates
				return ""
			}
			out = utf8.AppendRune(out, rune(n))
			i += 4
		default:
			s.Bad = true
			return ""
		}
	}
	return string(out)
}

// Null reads null and reports whether it was there.
func (s *Scanner) Null() bool {
	s.skipSpace()
	if s.Bad || !bytes.HasPrefix(s.b[s.i:], []byte("null")) {
		return false
	}
	s.i += 4
	return true
}

// Number reads a whole number of up to 15 digits, without sign or leading
// zeros.
func (s *Scanner) Number() (n int64) {
	s.skipSpace()
	from := s.i
	for ; s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' && s.i-from < 15; s.i++ {
		n = n*10 + int64(s.b[s.i]-'0')
	}
	if s.i == from || s.b[from] == '0' && s.i-from > 1 {
		s.Bad = true
	}
	return n
}
