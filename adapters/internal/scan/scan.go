// Package scan answers one question: can a small line of JSON be read without
// a decoder?
//
// Deltas are nearly all lines of a stream, and a decoder by reflection is most
// of what a delta costs. A Scanner reads lines that hold nothing but what the
// caller knows. Anything unusual (an unknown key, a key twice, surrogates,
// control characters, invalid text) makes it bad; then the caller gives up, and
// the typed decoder reads the line. A Scanner never accepts what the decoder
// refuses: the packages that use it test and fuzz that both agree.
package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// Max bounds the lines that are worth a try: a long one is none of many.
const Max = 16 << 10

// Scanner walks over one line. Once Bad it stays bad.
type Scanner struct {
	Bad bool
	b   []byte
	i   int

	marks  [maxMarks]mark // see Like
	marked int
}

// New scans a line.
func New(b []byte) Scanner { return Scanner{b: b} }

// Done reports whether the whole line was read, and nothing was bad.
func (s *Scanner) Done() bool {
	s.space()
	return !s.Bad && s.i == len(s.b)
}

func (s *Scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

// eat takes one character, after spaces.
func (s *Scanner) eat(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return !s.Bad
	}
	s.space()
	if s.Bad || s.i >= len(s.b) || s.b[s.i] != c {
		return false
	}
	s.i++
	return true
}

func (s *Scanner) want(c byte) {
	if !s.eat(c) {
		s.Bad = true
	}
}

// Object is an object that is being read.
type Object struct {
	Key   []byte // of the member at hand, as it stands
	seen  uint
	begun bool
}

// Object begins an object. Each Next that returns true wants its member's value
// to be read.
func (s *Scanner) Object() Object {
	s.want('{')
	return Object{}
}

// Next goes to the next member.
func (s *Scanner) Next(o *Object) bool {
	if s.Bad {
		return false
	}
	if o.begun {
		if s.eat('}') {
			return false
		}
		s.want(',')
	}
	o.begun = true
	o.Key = s.Plain()
	s.want(':')
	return !s.Bad
}

// Once marks a member by a bit; one that comes twice is bad.
func (s *Scanner) Once(o *Object, bit uint) {
	s.Bad = s.Bad || o.seen&bit != 0
	o.seen |= bit
}

// odd has the high bit of each byte that is below a space, not ASCII, or a
// backslash. (A byte behind such a one may be marked too: the caller looks at
// the lowest alone.)
func odd(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	below := (w - ones*' ') & ^w
	slash := w ^ ones*'\\'
	return (below | (slash-ones) & ^slash | w) & highs
}

// str takes a string and returns what stands between its quotes, as it stands,
// and whether it holds escapes. Control characters and invalid text are bad.
func (s *Scanner) str() (raw []byte, escaped bool) {
	s.want('"')
	if s.Bad {
		return nil, false
	}
	from := s.i
	n := bytes.IndexByte(s.b[from:], '"')
	if n < 0 {
		s.Bad = true
		return nil, false
	}
	if clean := plainUpTo(s.b[from : from+n]); clean == n {
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

// plainUpTo counts the characters before the first that is not plain ASCII.
func plainUpTo(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if m := odd(binary.LittleEndian.Uint64(b[i:])); m != 0 {
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

// Plain takes a string without escapes, and returns it without its quotes. It is
// valid as long as the line is.
func (s *Scanner) Plain() []byte {
	raw, escaped := s.str()
	s.Bad = s.Bad || escaped
	return raw
}

// Text takes a string and undoes its escapes.
func (s *Scanner) Text() string {
	raw, escaped := s.str()
	if s.Bad || !escaped {
		return string(raw)
	}
	return s.unescape(raw)
}

// TextOr is Text, and returns old where that is what stands there: ids come
// again and again.
func (s *Scanner) TextOr(old string) string {
	raw, escaped := s.str()
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
				s.Bad = true
				return ""
			}
			n, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
			if err != nil || n >= 0xD800 && n < 0xE000 {
				s.Bad = true // surrogates are the typed decoder's
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

// Null takes null, if it stands there.
func (s *Scanner) Null() bool {
	s.space()
	if s.Bad || !bytes.HasPrefix(s.b[s.i:], []byte("null")) {
		return false
	}
	s.i += 4
	return true
}

// Number takes a whole number without sign or leading zeros, of up to 15 digits.
func (s *Scanner) Number() (n int64) {
	s.space()
	from := s.i
	for ; s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' && s.i-from < 15; s.i++ {
		n = n*10 + int64(s.b[s.i]-'0')
	}
	if s.i == from || s.b[from] == '0' && s.i-from > 1 {
		s.Bad = true
	}
	return n
}
