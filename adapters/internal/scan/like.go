package scan

import "bytes"

// Like knows the line that was read last, and reads one that differs from it in
// marked values alone: so do the deltas of one block, which are nearly all lines
// of a stream. The zero Like knows none.
type Like struct {
	line  []byte
	marks [maxMarks]mark
	n     int
}

const maxMarks = 4

// mark is a value of a line that the next one may have otherwise.
type mark struct {
	from, to int // a string without its quotes
	kind     kind
}

type kind byte

const (
	aText kind = iota
	aPlain
	aNumber
)

func (s *Scanner) mark(k kind, from, to int) {
	for _, m := range s.marks[:s.marked] {
		s.Bad = s.Bad || k == aText && m.kind == aText // which of them would be the text?
	}
	if s.marked == maxMarks {
		s.Bad = true
		return
	}
	s.marks[s.marked] = mark{from, to, k}
	s.marked++
}

// VaryText is Text of the one string of a line that Like.Text returns. A second
// one is bad.
func (s *Scanner) VaryText() string {
	s.space()
	from := s.i + 1
	v := s.Text()
	s.mark(aText, from, s.i-1)
	return v
}

// VarySkip takes a string without escapes that is of no use.
func (s *Scanner) VarySkip() {
	s.space()
	from := s.i + 1
	s.Plain()
	s.mark(aPlain, from, s.i-1)
}

// VaryNumber takes a Number that is of no use.
func (s *Scanner) VaryNumber() {
	s.space()
	from := s.i
	s.Number()
	s.mark(aNumber, from, s.i)
}

// Keep makes l know the line that s has read.
func (l *Like) Keep(s *Scanner) {
	l.line = append(l.line[:0], s.b...)
	l.marks, l.n = s.marks, s.marked
}

// Forget makes l know none.
func (l *Like) Forget() { l.n = 0 }

// Text reads a line that is like the one that l knows, and returns its text. All
// else that counts is as it was. When ok is false nothing is known of the line.
func (l *Like) Text(b []byte) (text string, ok bool) {
	if l.n == 0 {
		return "", false
	}
	s, at := Scanner{b: b}, 0
	for _, m := range l.marks[:l.n] {
		if !s.same(l.line[at:m.from]) {
			return "", false
		}
		at = m.to
		if m.kind == aNumber {
			if s.Number(); s.Bad {
				return "", false
			}
			continue
		}
		s.i-- // back to the quote
		if m.kind == aText {
			text = s.Text()
		} else {
			s.Plain()
		}
		if s.Bad {
			return "", false
		}
		s.i-- // the quote stands in what follows
	}
	return text, bytes.Equal(b[s.i:], l.line[at:])
}

// same steps over what must stand there.
func (s *Scanner) same(what []byte) bool {
	if !bytes.HasPrefix(s.b[s.i:], what) {
		return false
	}
	s.i += len(what)
	return true
}
