package standin

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// slot is a span of a line that a play may rewrite.
type slot struct {
	span
	kind slotKind
	key  string   // what was recorded
	ids  []string // of slotNames
}

type slotKind int

const (
	slotUUID  slotKind = iota
	slotPlace          // <work>, <home> and their slugs
	slotID             // the id of the client's request
	slotChose          // a message id as a JSON string; null when the client chose none
	slotNames          // a member that lists message ids; left out when the client chose none
	slotExtra          // a member that only some clients get; left out for the others
	slotMode           // the permission mode that the client chose
	slotHook           // the callback of the client that is asked
	slotWords          // what the client told the model with a denial
)

var places = []string{"<work>", "<work:slug>", "<home>", "<home:slug>"}

// slots finds what a play may rewrite in a line. chosen are message ids of the
// recording's client, mode is its permission mode then.
func (s *script) slots(p *part, r *reading, chosen []string, mode string) {
	p.slots = slices.Clip(r.slots) // they are kept for other plays
	own := len(p.slots)
	if p.reply >= 0 && r.id != nil {
		p.slots = append(p.slots, slot{span: *r.id, kind: slotID})
	}
	if r.mode != nil && string(p.b[r.mode.from:r.mode.to]) == mode {
		p.slots = append(p.slots, slot{span: *r.mode, kind: slotMode})
	}
	for _, name := range chosen {
		if !r.named {
			break
		}
		token, _ := jsontext.AppendQuote(nil, name)
		s.each(p, append([]byte(chosenID), token...), func(at span) slot {
			return slot{span: span{at.to - len(token), at.to}, kind: slotChose, key: name}
		})
	}
	for _, w := range s.words {
		body, _ := jsontext.AppendQuote(nil, w)
		s.each(p, body[1:len(body)-1], func(at span) slot { return slot{span: at, kind: slotWords, key: w} })
	}
	if len(p.slots) > own {
		p.slots = p.tidy()
	}
}

func (s *script) each(p *part, what []byte, slotOf func(span) slot) {
	for from := 0; ; {
		i := bytes.Index(p.b[from:], what)
		if i < 0 {
			return
		}
		p.slots = append(p.slots, slotOf(span{from + i, from + i + len(what)}))
		from += i + len(what)
	}
}

func placeSlots(b []byte) []slot {
	var p part
	p.b = b
	if bytes.IndexByte(b, '<') < 0 {
		return nil
	}
	for _, place := range places {
		(*script)(nil).each(&p, []byte(place), func(at span) slot { return slot{span: at, kind: slotPlace, key: place} })
	}
	slices.SortFunc(p.slots, func(a, b slot) int { return a.from - b.from })
	return p.slots
}

// wholeMember finds a top-level member with its name and the comma before it
// (after it, when it is the first), and its value.
func wholeMember(b []byte, name string) (at span, value []byte, ok bool) {
	if !bytes.Contains(b, []byte(`"`+name+`":`)) {
		return at, nil, false
	}
	v, ok := memberOf(b, name)
	if !ok {
		return at, nil, false
	}
	from := bytes.LastIndex(b[:v.from], []byte(`"`+name+`"`))
	if from < 1 {
		return at, nil, false
	}
	at = span{from, v.to}
	switch {
	case b[from-1] == ',':
		at.from--
	case v.to < len(b) && b[v.to] == ',':
		at.to++
	}
	return at, b[v.from:v.to], true
}

// names are the strings that a value holds, alone or in a list.
func names(v []byte) (ids []string) {
	var one string
	if decode(v, &one) == nil {
		return []string{one}
	}
	_ = decode(v, &ids) // of anything else there are none
	return ids
}
