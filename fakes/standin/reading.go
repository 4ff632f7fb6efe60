package standin

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
)

// Prepared is a case that is played many times, harmed or not: what its lines
// mean by themselves is found out once. It is never changed, so that plays of it
// may run at once.
type Prepared struct {
	c     *fixtures.Case
	lines map[held][]reading
	out   map[string]*reading // lines of stdout by what stands in them
}

// Prepare reads the lines of a case.
func Prepare(c *fixtures.Case) (*Prepared, error) {
	d, err := dialectOf(c.Runtime)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	p := &Prepared{c: c, lines: map[held][]reading{}, out: map[string]*reading{}}
	for i := range c.Wire {
		w := &c.Wire[i]
		rs := p.readingsOf(d, w)
		p.lines[holder(w)] = rs
		for k := range rs {
			if w.Dir == fixtures.Out {
				p.out[string(rs[k].b)] = &rs[k]
			}
		}
	}
	return p, nil
}

// held is where a line lies: one that a fault leaves alone lies where the case's
// does.
type held struct {
	at  *byte
	n   int
	dir fixtures.Dir
}

func holder(w *fixtures.WireLine) held {
	var at *byte
	if len(w.Bytes) > 0 {
		at = &w.Bytes[0]
	}
	return held{at, len(w.Bytes), w.Dir}
}

// of returns what a line means: one of the case, or one that a fault has made.
func (p *Prepared) of(d dialect, w *fixtures.WireLine) []reading {
	if p != nil {
		if r, ok := p.lines[holder(w)]; ok {
			return r
		}
	}
	return p.readingsOf(d, w)
}

// reading is what one line means, whatever stands around it.
type reading struct {
	b     []byte
	act   act // of in
	said  said
	facts facts
	uuids []span
	slots []slot // of out and err, that a play may rewrite in any case
	id    *span  // of a reply: where it has the id of its request
	mode  *span  // where it says which permission mode is set
	named bool   // it may hold a message id that the client chose
}

// readingsOf reads a line of the wire: more than one where lines are glued. What
// was read before is not read again.
func (p *Prepared) readingsOf(d dialect, w *fixtures.WireLine) []reading {
	switch w.Dir {
	case fixtures.In:
		return []reading{{b: w.Bytes, act: d.act(w.Bytes), uuids: uuids(w.Bytes)}}
	case fixtures.Err:
		return []reading{{b: w.Bytes, slots: placeSlots(w.Bytes)}}
	case fixtures.Out:
	default:
		return nil
	}
	var out []reading
	for b := range bytes.SplitSeq(w.Bytes, []byte("\n")) {
		if p != nil && p.out[string(b)] != nil {
			out = append(out, *p.out[string(b)])
			continue
		}
		r := slotsOf(d, b, d.said(b))
		r.facts = factsOf(b, r.said.reply != nil)
		out = append(out, r)
	}
	return out
}

// slotsOf finds what a play may rewrite in a line.
func slotsOf(d dialect, b []byte, s said) reading {
	r := reading{b: b, said: s, uuids: uuids(b)}
	p := part{b: b, said: s}
	p.own(d, r.uuids)
	r.slots = p.tidy()
	r.named = bytes.Contains(b, []byte(chosenID))
	if s.reply != nil {
		if at, ok := member(b, d.idMember()...); ok {
			r.id = &at
		}
	}
	if at, ok := d.modeMember(b); ok {
		r.mode = &at
	}
	return r
}

// facts are what a line says that later lines are judged by.
type facts struct {
	session    string   // it is of this session, or opens this thread
	opened     string   // the thread that it names, if it replies to a request to open one
	background []string // tool calls whose sub-agent runs in the background
}

func factsOf(b []byte, reply bool) (out facts) {
	var f struct {
		Type         string `json:"type"`
		Subtype      string `json:"subtype"`
		SessionID    string `json:"session_id"`
		ThreadID     string `json:"thread_id"` // codex exec
		ToolUseID    string `json:"tool_use_id"`
		Backgrounded bool   `json:"is_backgrounded"`
		Result       struct {
			Thread struct {
				ID string `json:"id"`
			} `json:"thread"`
		} `json:"result"`
	}
	if decode(b, &f) != nil {
		return out
	}
	if f.Subtype == "task_started" && f.Backgrounded {
		out.background = append(out.background, f.ToolUseID)
	}
	if f.Type == "user" {
		out.background = append(out.background, launched(b)...)
	}
	out.session = f.SessionID
	if f.Type == "thread.started" {
		out.session = f.ThreadID
	}
	if reply {
		out.opened = f.Result.Thread.ID
	}
	return out
}

// launched learns from a tool's result that a sub-agent runs in the background:
// older versions say it there alone.
func launched(b []byte) (ids []string) {
	var f struct {
		Result struct {
			Async bool `json:"isAsync"`
		} `json:"tool_use_result"`
		Message struct {
			Content []struct {
				ToolUseID string `json:"tool_use_id"`
			} `json:"content"`
		} `json:"message"`
	}
	if decode(b, &f) != nil || !f.Result.Async { // most results have another form
		return nil
	}
	for _, c := range f.Message.Content {
		ids = append(ids, c.ToolUseID)
	}
	return ids
}

// own adds the slots of a line that it has whatever stands around it.
func (p *part) own(d dialect, uuids []span) {
	var about []string // the messages that the line is about
	for _, name := range []string{"user_message_uuid", "user_message_uuids"} {
		if !bytes.Contains(p.b, []byte(`"user_message_uuid`)) {
			break
		}
		if at, v, ok := wholeMember(p.b, name); ok {
			if ids := names(v); len(ids) > 0 {
				about = ids
				p.slots = append(p.slots, slot{span: at, kind: slotNames, key: name, ids: ids})
			}
		}
	}
	for _, name := range d.extras(&p.said) {
		if at, _, ok := wholeMember(p.b, name); ok {
			p.slots = append(p.slots, slot{span: at, kind: slotExtra, key: name, ids: about})
		}
	}
	if p.said.hook != "" {
		if at, ok := member(p.b, "request", "callback_id"); ok {
			p.slots = append(p.slots, slot{span: at, kind: slotHook, key: p.said.hook})
		}
	}
	for _, u := range uuids {
		p.slots = append(p.slots, slot{span: u, kind: slotUUID, key: string(p.b[u.from:u.to])})
	}
	p.slots = append(p.slots, placeSlots(p.b)...)
}

// tidy puts the slots in order, without those inside others.
func (p *part) tidy() []slot {
	slices.SortStableFunc(p.slots, func(a, b slot) int { return a.from - b.from })
	end := 0
	return slices.DeleteFunc(p.slots, func(x slot) bool {
		if x.from < end {
			return true
		}
		end = x.to
		return false
	})
}
