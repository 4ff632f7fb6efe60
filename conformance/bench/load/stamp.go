package load

import (
	"bytes"
	"strconv"
)

// Stamp says which delta a piece of text is of, and when it was sent. An adapter
// passes it through as text that the model said.
type Stamp struct {
	Index int   // from 0
	Due   int64 // when it was to be sent, by Now
	Sent  int64 // when it was
}

// A stamp stands in a text as @INDEX,DUE,LATE; with numbers of base 36, LATE
// being Sent after Due.
const (
	opens  = '@'
	closes = ';'
	base   = 36
	// longest is more than a stamp can take.
	longest = 48
)

// Append appends the stamp's text.
func (s Stamp) Append(b []byte) []byte {
	b = append(b, opens)
	b = strconv.AppendInt(b, int64(s.Index), base)
	b = append(b, ',')
	b = strconv.AppendInt(b, s.Due, base)
	b = append(b, ',')
	b = strconv.AppendInt(b, max(0, s.Sent-s.Due), base)
	return append(b, closes)
}

// Stamps finds stamps in text that comes in pieces of any size.
type Stamps struct{ rest []byte }

// Feed calls found with each stamp that is complete with this piece.
func (r *Stamps) Feed(piece []byte, found func(Stamp)) {
	b := piece
	if len(r.rest) > 0 {
		r.rest = append(r.rest, piece...)
		b = r.rest
	}
	for {
		from := bytes.IndexByte(b, opens)
		if from < 0 {
			r.rest = r.rest[:0]
			return
		}
		b = b[from:]
		to := bytes.IndexByte(b[:min(len(b), longest)], closes)
		switch s, ok := parse(b, to); {
		case ok:
			found(s)
			b = b[to+1:]
		case to < 0 && len(b) < longest: // the next piece has its end
			r.rest = append(r.rest[:0], b...)
			return
		default: // an @ of something else
			b = b[1:]
		}
	}
}

// parse reads the stamp that begins b and ends at to.
func parse(b []byte, to int) (s Stamp, ok bool) {
	if to < 0 {
		return s, false
	}
	var n [3]int64
	at := 1
	for i := range n {
		end := to
		if i < 2 {
			comma := bytes.IndexByte(b[at:to], ',')
			if comma < 0 {
				return s, false
			}
			end = at + comma
		}
		if n[i], ok = number(b[at:end]); !ok {
			return s, false
		}
		at = end + 1
	}
	return Stamp{int(n[0]), n[1], n[1] + n[2]}, true
}

func number(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 13 {
		return 0, false
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n*base + int64(c-'0')
		case c >= 'a' && c <= 'z':
			n = n*base + int64(c-'a') + 10
		default:
			return 0, false
		}
	}
	return n, true
}
