package standin

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// freshUUID is the UUID that a play has instead of a minted one. It depends on the
// seed alone, is of the same version, and for version 7 of the same time, so that
// ids keep their order.
func freshUUID(seed uint64, id string) string {
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, seed), id...))
	h := hex.EncodeToString(sum[:16])
	out := []byte(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:32])
	out[14], out[19] = id[14], id[19]
	if id[14] == '7' {
		copy(out, id[:13])
	}
	return string(out)
}

// playedID translates a recorded id into that of this play.
func (p *Play) playedID(id string) string {
	if b, ok := p.bound[id]; ok {
		return b
	}
	if p.o.KeepIDs || id == fixtures.UnknownSession || len(id) != uuidLen || !uuidAt([]byte(id), 0) {
		return id
	}
	f := freshUUID(p.o.Seed, id)
	p.bound[id] = f
	return f
}

// bind records what a client chose in the place of a recorded id or text.
func (p *Play) bind(recorded, chosen string) {
	if recorded != "" && chosen != "" {
		p.bound[recorded] = chosen
	}
}

// Played translates recorded text (of a witness, say) into that of this play: ids
// and places.
func (p *Play) Played(s string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.translate(s, p.lastLaunch())
}

// Recorded is the inverse of Played, for the ids that this play has used and the
// reasons that its client gave with a denial.
func (p *Play) Recorded(s string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var back replacer
	for rec, played := range p.bound {
		if len(played) == uuidLen && len(rec) == uuidLen { // shorter ones would be found in words
			back.addPair(played, rec)
		}
	}
	for _, reason := range p.s.reasons {
		if chosen := p.bound[reason]; len(chosen) >= minReason {
			back.addPair(chosen, reason)
		}
	}
	if l := p.lastLaunch(); l != nil {
		for _, place := range places {
			if v := l.placeValue(place); v != "" && v != place && !p.s.holdsShort(v) {
				back.addPair(v, place)
			}
		}
	}
	return back.replace(s)
}

// minFolder is the length from which the name of a folder is not looked for in a recording.
const minFolder = 8

// holdsShort reports whether a folder has a short name that the recording holds as it is, such
// as /root, with which the names of sub-agents begin: what a run says of it may be either.
func (s *script) holdsShort(folder string) bool {
	return len(folder) < minFolder && slices.ContainsFunc(s.lines, func(l line) bool { return bytes.Contains(l.w.Bytes, []byte(folder)) })
}

func (p *Play) translate(s string, l *launch) string {
	slots := textSlots([]byte(s))
	if len(slots) == 0 {
		return s
	}
	return string(p.splice(nil, []byte(s), slots, nil, l, false))
}

// translateJSON translates a JSON value; nil stays nil.
func (p *Play) translateJSON(v jsontext.Value, l *launch) jsontext.Value {
	slots := textSlots(v)
	if len(slots) == 0 {
		return v
	}
	return p.splice(nil, v, slots, nil, l, true)
}

func textSlots(b []byte) []slot {
	slots := placeSlots(b)
	for _, u := range uuids(b) {
		slots = append(slots, slot{Span: u, kind: slotUUID, key: string(b[u.From:u.To])})
	}
	slices.SortFunc(slots, func(x, y slot) int { return x.From - y.From })
	return slots
}

var notAlnum = regexp.MustCompile(`[^A-Za-z0-9]`)

// placeValue is the folder for a placeholder.
func (l *launch) placeValue(name string) string {
	if l == nil {
		return name
	}
	base, isSlug := strings.CutSuffix(strings.Trim(name, "<>"), ":slug")
	v := map[string]string{"work": l.dir, "home": l.home}[base]
	switch {
	case v == "" || v == "<"+base+">":
		return name
	case isSlug:
		return notAlnum.ReplaceAllString(v, "-")
	}
	return v
}

// wants reports whether this client gets a line. id is that of its request, if the
// line answers one.
func (p *Play) wants(pt *part, l *launch) (id jsontext.Value, ok bool) {
	if pt.reply >= 0 {
		req := &p.s.lines[pt.reply]
		if req.claimed == nil || req.by.replyID() == nil {
			return nil, false // it made no such request
		}
		id = req.by.replyID()
	}
	return id, l.wants(pt.line)
}

// splice appends b with this play's values in the slots. All other bytes stay.
func (p *Play) splice(out, b []byte, slots []slot, id jsontext.Value, l *launch, isJSON bool) []byte {
	at := 0
	for _, s := range slots {
		out = append(out, b[at:s.From]...)
		was := b[s.From:s.To]
		at = s.To
		switch s.kind {
		case slotUUID:
			out = append(out, p.playedID(s.key)...)
		case slotPlace:
			v := l.placeValue(s.key)
			if q, err := jsontext.AppendQuote(nil, v); isJSON && err == nil {
				v = string(q[1 : len(q)-1])
			}
			out = append(out, v...)
		case slotID:
			out = append(out, id...)
		case slotChosen:
			if v, ok := p.bound[s.key]; ok {
				out, _ = jsontext.AppendQuote(out, v)
			} else {
				out = append(out, "null"...)
			}
		case slotOptional:
			if f := p.s.rt.Options.WantsMember; f == nil || f(s.key, s.ids, l) {
				out = append(out, was...)
			}
		case slotHook:
			out, _ = jsontext.AppendQuote(out, l.Hook(s.key))
		case slotReason:
			body, _ := jsontext.AppendQuote(nil, cmp.Or(p.bound[s.key], s.key))
			out = append(out, body[1:len(body)-1]...)
		case slotMode:
			out = append(out, l.mode...)
		case slotMessages:
			out = p.appendMessages(out, was, s.ids, l)
		}
	}
	return append(out, b[at:]...)
}

// appendMessages writes a member that lists message ids with those that this client
// chose. If it chose none, the member is left out.
func (p *Play) appendMessages(out, member []byte, ids []string, l *launch) []byte {
	text, found := string(member), false
	for _, id := range ids {
		if l.Chose(id) {
			found = true
			text = strings.ReplaceAll(text, id, p.playedID(id))
			continue
		}
		for _, form := range []string{`"` + id + `",`, `,"` + id + `"`, `"` + id + `"`} {
			if strings.Contains(text, form) {
				text = strings.Replace(text, form, "", 1)
				break
			}
		}
	}
	if !found {
		return out
	}
	return append(out, text...)
}
