package standin

import (
	"bytes"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Prepared is a case that is played many times, with faults or without: its lines
// are read once. It is never changed, so that several plays of it may run at
// once.
type Prepared struct {
	c     *fixtures.Case
	lines map[location][]reading
	out   map[string]*reading // lines of stdout by their bytes
}

// Prepare reads the lines of a case.
func Prepare(c *fixtures.Case) (*Prepared, error) {
	rt, err := runtimeOf(c)
	if err != nil {
		return nil, err
	}
	p := &Prepared{c: c, lines: map[location][]reading{}, out: map[string]*reading{}}
	for i := range c.Wire {
		w := &c.Wire[i]
		rs := p.readAll(rt, w)
		p.lines[locationOf(w)] = rs
		for k := range rs {
			if w.Dir == fixtures.Out {
				p.out[string(rs[k].b)] = &rs[k]
			}
		}
	}
	return p, nil
}

// location is where the bytes of a line are in memory. A line that a fault does not
// change shares them with the line of the case.
type location struct {
	first *byte
	n     int
	dir   fixtures.Dir
}

func locationOf(w *fixtures.WireLine) location {
	var first *byte
	if len(w.Bytes) > 0 {
		first = &w.Bytes[0]
	}
	return location{first, len(w.Bytes), w.Dir}
}

// readingsOf returns the readings of a line: one of the case, or one that a fault has
// made.
func (p *Prepared) readingsOf(rt *wire.Runtime, w *fixtures.WireLine) []reading {
	if p != nil {
		if r, ok := p.lines[locationOf(w)]; ok {
			return r
		}
	}
	return p.readAll(rt, w)
}

// reading is what one line is, whatever comes before and after it.
type reading struct {
	b     []byte
	step  step       // of in
	line  *wire.Line // of out
	uuids []wire.Span
	slots []slot     // of out and err: what a play may rewrite in any case
	id    *wire.Span // of a reply: where it has the id of its request
	mode  *wire.Span // where it names the permission mode that is set
	named bool       // it may hold a message id that the client chose
}

// endless is the length in bytes from which on no adapter takes a line. At most its head is read,
// and all behind that is played as it is.
const (
	endless     = 64 << 20
	endlessHead = 4 << 10
)

// readLength returns how much of a line is read, in bytes.
func readLength(b []byte) int {
	if len(b) > endless {
		return endlessHead
	}
	return len(b)
}

// readAll reads a line of the wire: more than one if lines are glued. What was read
// before is not read again.
func (p *Prepared) readAll(rt *wire.Runtime, w *fixtures.WireLine) []reading {
	switch w.Dir {
	case fixtures.In:
		return []reading{{b: w.Bytes, step: readStep(rt, w.Bytes), uuids: uuids(w.Bytes)}}
	case fixtures.Err:
		return []reading{{b: w.Bytes, slots: placeSlots(w.Bytes[:readLength(w.Bytes)])}}
	case fixtures.Out:
	default:
		return nil
	}
	var out []reading
	for b := range bytes.SplitSeq(w.Bytes, []byte("\n")) {
		if p != nil && len(b) <= endless && p.out[string(b)] != nil {
			out = append(out, *p.out[string(b)])
			continue
		}
		l := rt.ReadOutput(b)
		r := readSlots(rt, b[:readLength(b)], &l)
		r.b = b
		out = append(out, r)
	}
	return out
}

// readSlots finds what a play may rewrite in a line.
func readSlots(rt *wire.Runtime, b []byte, l *wire.Line) reading {
	r := reading{b: b, line: l, uuids: uuids(b)}
	p := part{b: b, line: l}
	p.addOwnSlots(rt, r.uuids)
	r.slots = p.sortedSlots()
	r.named = rt.Options.ChosenMember != "" && bytes.Contains(b, chosenMember(rt))
	if replyTo(l) != nil {
		if at, ok := wire.Member(b, rt.Replies.IDPath...); ok {
			r.id = &at
		}
	}
	if at, ok := modeSpan(rt, b); ok {
		r.mode = &at
	}
	return r
}

// modeSpan is where a line names the permission mode, within the quotes.
func modeSpan(rt *wire.Runtime, b []byte) (wire.Span, bool) {
	for _, path := range rt.Options.ModePaths {
		if !bytes.Contains(b, []byte(path[len(path)-1])) {
			continue
		}
		if at, ok := wire.Member(b, path...); ok && b[at.From] == '"' {
			return wire.Span{From: at.From + 1, To: at.To - 1}, true
		}
	}
	return wire.Span{}, false
}

// chosenMember precedes a message id that a client chose. The quotes of a string
// would be escaped, so this is a member.
func chosenMember(rt *wire.Runtime) []byte { return []byte(`"` + rt.Options.ChosenMember + `":`) }

// addOwnSlots adds the slots that a line has whatever comes before and after it.
func (p *part) addOwnSlots(rt *wire.Runtime, uuids []wire.Span) {
	o := &rt.Options
	var messages []string // that the line is about
	for _, name := range o.MessageMembers {
		if !bytes.Contains(p.b, []byte(name)) {
			continue
		}
		if at, v, ok := wholeMember(p.b, name); ok {
			if ids := stringsOf(v); len(ids) > 0 {
				messages = ids
				p.slots = append(p.slots, slot{Span: at, kind: slotMessages, key: name, ids: ids})
			}
		}
	}
	if o.Members != nil {
		for _, name := range o.Members(p.line) {
			if at, _, ok := wholeMember(p.b, name); ok {
				p.slots = append(p.slots, slot{Span: at, kind: slotOptional, key: name, ids: messages})
			}
		}
	}
	if p.line.Asked != nil && p.line.Asked.Hook != "" {
		if at, ok := wire.Member(p.b, o.HookPath...); ok {
			p.slots = append(p.slots, slot{Span: at, kind: slotHook, key: p.line.Asked.Hook})
		}
	}
	for _, u := range uuids {
		p.slots = append(p.slots, slot{Span: u, kind: slotUUID, key: string(p.b[u.From:u.To])})
	}
	p.slots = append(p.slots, placeSlots(p.b)...)
}

// sortedSlots returns the slots in order, without those inside others.
func (p *part) sortedSlots() []slot {
	slices.SortStableFunc(p.slots, func(a, b slot) int { return a.From - b.From })
	end := 0
	return slices.DeleteFunc(p.slots, func(x slot) bool {
		if x.From < end {
			return true
		}
		end = x.To
		return false
	})
}
