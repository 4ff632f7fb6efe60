package fastjson

import "bytes"

// Template remembers a line and matches lines that differ from it only in
// marked values. Nearly all lines of a stream are deltas of the same block,
// which do. The zero Template matches nothing.
type Template struct {
	line      []byte
	holes     [maxHoles]hole
	holeCount int
}

const maxHoles = 4

// hole is a value that may differ between lines.
type hole struct {
	from, to int // excluding the quotes of a string
	kind     kind
}

type kind byte

const (
	textHole kind = iota
	plainHole
	numberHole
)

func (s *Scanner) addHole(k kind, from, to int) {
	for _, m := range s.holes[:s.holeCount] {
		s.Bad = s.Bad || k == textHole && m.kind == textHole // it is not known which of the two is the text
	}
	if s.holeCount == maxHoles {
		s.Bad = true
		return
	}
	s.holes[s.holeCount] = hole{from, to, k}
	s.holeCount++
}

// TextHole reads a string like Text and marks it as the text that Match
// returns. A line with two such strings is bad.
func (s *Scanner) TextHole() string {
	s.skipSpace()
	from := s.i + 1
	v := s.Text()
	s.addHole(textHole, from, s.i-1)
	return v
}

// PlainHole skips a string without escapes and marks it.
func (s *Scanner) PlainHole() {
	s.skipSpace()
	from := s.i + 1
	s.Plain()
	s.addHole(plainHole, from, s.i-1)
}

// NumberHole skips a Number and marks it.
func (s *Scanner) NumberHole() {
	s.skipSpace()
	from := s.i
	s.Number()
	s.addHole(numberHole, from, s.i)
}

// Set makes t match lines like the one that s has read.
func (t *Template) Set(s *Scanner) {
	t.line = append(t.line[:0], s.b...)
	t.holes, t.holeCount = s.holes, s.holeCount
}

// Clear makes t match nothing.
func (t *Template) Clear() { t.holeCount = 0 }

// Match returns the text of a line that equals the remembered one except in the
// marked values. It returns false if the line does not match.
func (t *Template) Match(b []byte) (text string, ok bool) {
	if t.holeCount == 0 {
		return "", false
	}
	s, at := Scanner{b: b}, 0
	for _, m := range t.holes[:t.holeCount] {
		if !s.consume(t.line[at:m.from]) {
			return "", false
		}
		at = m.to
		if m.kind == numberHole {
			if s.Number(); s.Bad {
				return "", false
			}
			continue
		}
		s.i-- // back to the quote
		if m.kind == textHole {
			text = s.Text()
		} else {
			s.Plain()
		}
		if s.Bad {
			return "", false
		}
		s.i-- // the closing quote is part of what follows
	}
	return text, bytes.Equal(b[s.i:], t.line[at:])
}

// consume skips the given bytes and reports whether they were there.
func (s *Scanner) consume(what []byte) bool {
	if !bytes.HasPrefix(s.b[s.i:], what) {
		return false
	}
	s.i += len(what)
	return true
}
