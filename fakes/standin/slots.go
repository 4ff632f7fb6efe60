package standin

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// slot is a span of a line that a play may rewrite.
type slot struct {
	wire.Span
	kind slotKind
	key  string   // what was recorded
	ids  []string // of slotMessages and slotOptional: the messages that the line is about
}

type slotKind int

const (
	slotUUID     slotKind = iota
	slotPlace             // <work>, <home> and their slugs
	slotID                // the id of the client's request
	slotChosen            // a message id as a JSON string; null if the client chose none
	slotMessages          // a member that lists message ids; left out if the client chose none
	slotOptional          // a member that only some clients get; left out for the others
	slotMode              // the permission mode that the client chose
	slotHook              // the callback of the client that is called
	slotReason            // the reason that the client gave with a denial
)

var places = []string{"<work>", "<work:slug>", "<home>", "<home:slug>"}

// addSlots finds what a play may rewrite in a line. chosen are message ids of the
// recording's client, mode is its permission mode at that point.
func (s *script) addSlots(p *part, r *reading, chosen []string, mode string) {
	p.slots = slices.Clip(r.slots) // other plays share them
	own := len(p.slots)
	if p.reply >= 0 && r.id != nil {
		p.slots = append(p.slots, slot{Span: *r.id, kind: slotID})
	}
	if r.mode != nil && string(p.b[r.mode.From:r.mode.To]) == mode {
		p.slots = append(p.slots, slot{Span: *r.mode, kind: slotMode})
	}
	for _, name := range chosen {
		if !r.named {
			break
		}
		token, _ := jsontext.AppendQuote(nil, name)
		p.addEach(append(chosenMember(s.rt), token...), func(at wire.Span) slot {
			return slot{Span: wire.Span{From: at.To - len(token), To: at.To}, kind: slotChosen, key: name}
		})
	}
	for _, reason := range s.reasons {
		body, _ := jsontext.AppendQuote(nil, reason)
		p.addEach(body[1:len(body)-1], func(at wire.Span) slot { return slot{Span: at, kind: slotReason, key: reason} })
	}
	if len(p.slots) > own {
		p.slots = p.sortedSlots()
	}
}

// addEach adds a slot for each occurrence of a text.
func (p *part) addEach(text []byte, slotOf func(wire.Span) slot) {
	for from := 0; ; {
		i := bytes.Index(p.b[from:], text)
		if i < 0 {
			return
		}
		p.slots = append(p.slots, slotOf(wire.Span{From: from + i, To: from + i + len(text)}))
		from += i + len(text)
	}
}

func placeSlots(b []byte) []slot {
	if bytes.IndexByte(b, '<') < 0 {
		return nil
	}
	p := part{b: b}
	for _, place := range places {
		p.addEach([]byte(place), func(at wire.Span) slot { return slot{Span: at, kind: slotPlace, key: place} })
	}
	slices.SortFunc(p.slots, func(a, b slot) int { return a.From - b.From })
	return p.slots
}

// wholeMember finds a top-level member with its name and the comma before it
// (after it, if it is the first), and its value.
func wholeMember(b []byte, name string) (at wire.Span, value []byte, ok bool) {
	if !bytes.Contains(b, []byte(`"`+name+`":`)) {
		return at, nil, false
	}
	v, ok := wire.Member(b, name)
	if !ok {
		return at, nil, false
	}
	from := bytes.LastIndex(b[:v.From], []byte(`"`+name+`"`))
	if from < 1 {
		return at, nil, false
	}
	at = wire.Span{From: from, To: v.To}
	switch {
	case b[from-1] == ',':
		at.From--
	case v.To < len(b) && b[v.To] == ',':
		at.To++
	}
	return at, b[v.From:v.To], true
}

// stringsOf are the strings that a value holds, alone or in a list.
func stringsOf(v []byte) (ids []string) {
	var one string
	if wire.Decode(v, &one) == nil {
		return []string{one}
	}
	_ = wire.Decode(v, &ids) // any other value holds none
	return ids
}
