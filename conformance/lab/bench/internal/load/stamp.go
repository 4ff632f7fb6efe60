package load

import (
	"bytes"
	"strconv"
)

// Stamp identifies a delta and its times. An adapter passes it through as text of
// the model.
type Stamp struct {
	Index int   // from 0
	Due   int64 // when it was due, by Now
	Sent  int64 // when it was sent
}

// The text of a stamp is @INDEX,DUE,LATE; in base 36. LATE is Sent minus Due.
const (
	opens  = '@'
	closes = ';'
	base   = 36
	// longest is longer than any stamp.
	longest = 48
)

// Append appends the text of the stamp.
func (s Stamp) Append(b []byte) []byte {
	b = append(b, opens)
	b = strconv.AppendInt(b, int64(s.Index), base)
	b = append(b, ',')
	b = strconv.AppendInt(b, s.Due, base)
	b = append(b, ',')
	b = strconv.AppendInt(b, max(0, s.Sent-s.Due), base)
	return append(b, closes)
}

// Stamps finds stamps in text that arrives in pieces of any size.
type Stamps struct{ rest []byte }

// Feed calls found with each stamp that this piece completes.
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
		switch s, ok := parseStamp(b, to); {
		case ok:
			found(s)
			b = b[to+1:]
		case to < 0 && len(b) < longest: // the next piece has its end
			r.rest = append(r.rest[:0], b...)
			return
		default: // an @ of other text
			b = b[1:]
		}
	}
}

// parseStamp reads the stamp at the beginning of b, which ends at to.
func parseStamp(b []byte, to int) (s Stamp, ok bool) {
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
		if n[i], ok = parseNumber(b[at:end]); !ok {
			return s, false
		}
		at = end + 1
	}
	return Stamp{int(n[0]), n[1], n[1] + n[2]}, true
}

func parseNumber(b []byte) (n int64, ok bool) {
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
