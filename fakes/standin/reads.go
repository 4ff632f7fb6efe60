package standin

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// read answers at once, from the case or from the lifecycle.
func (p *Play) read(l *launch, w *ClientAction, a *act) {
	if p.gave(l, a.thread) {
		if p.claimNext(l, w, a) {
			return
		}
		if b, ok := p.recordedReply(l, a); ok {
			p.reply(l, b)
			return
		}
	}
	if p.fromLifecycle(l, a) {
		return
	}
	p.unrecordedf("process %d: %s", l.n, describe(a))
	p.reply(l, p.s.dialect.refuse(a, "the recording does not hold this: "+describe(a)))
}

// claimNext gives a read to the recorded one, if the play has come to it: its
// reply then plays in its place.
func (p *Play) claimNext(l *launch, w *ClientAction, a *act) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In {
			return false
		}
		if rec.claimed == nil && rec.act.kind == KindRead && rec.act.method == a.method {
			p.match(rec, w, a)
			return true
		}
	}
	return false
}

// recordedReply is the reply to the same method anywhere in the case.
func (p *Play) recordedReply(l *launch, a *act) ([]byte, bool) {
	for i := range p.s.lines {
		for k := range p.s.lines[i].parts {
			pt := &p.s.lines[i].parts[k]
			if pt.reply < 0 || p.s.lines[pt.reply].odd {
				continue
			}
			if rec := &p.s.lines[pt.reply].act; rec.kind == KindRead && rec.method == a.method {
				return p.splice(nil, pt.b, pt.slots, a.id, l, true), true
			}
		}
	}
	return nil, false
}

// fromLifecycle answers as the runtime did when it was asked outside of any
// turn.
func (p *Play) fromLifecycle(l *launch, a *act) bool {
	life := p.o.Lifecycle
	if life == nil || a.id == nil {
		return false
	}
	ans, ok := p.answerTo(l, a)
	if !ok {
		return false
	}
	// The lifecycle was recorded on a thread of its own.
	var own struct {
		Thread string `json:"threadId"`
	}
	for _, x := range life.Answers {
		if own.Thread == "" {
			_ = decode(x.Params, &own) // most have none
		}
	}
	echo := echoes(ans.Params, a.params)
	put := func(b jsontext.Value, answer bool) {
		b = jsontext.Value(echo.Replace(string(b)))
		if s := p.s.processes[l.n].session; s != "" && own.Thread != "" {
			b = bytes.ReplaceAll(b, []byte(own.Thread), []byte(s))
		}
		pt := part{b: b, reply: -1}
		if !answer {
			if pt.said = p.s.dialect.said(b); !p.s.dialect.wants(&pt.said, l) {
				return
			}
		}
		r := slotsOf(p.s.dialect, b, pt.said)
		p.s.slots(&pt, &r, nil, "")
		b = p.splice(nil, pt.b, pt.slots, nil, l, true)
		if a.thread != "" {
			b = bytes.ReplaceAll(b, []byte(fixtures.UnknownSession), []byte(a.thread))
		}
		p.reply(l, b)
	}
	for _, b := range ans.Before {
		put(b, false)
	}
	if ans.Error != nil {
		put(p.s.dialect.fail(a, ans.Error), true)
	} else {
		l.mode = cmp.Or(a.mode, l.mode)
		if a.passing {
			p.beside(l, ans.Result)
		}
		put(p.s.dialect.result(a, ans.Result), true)
	}
	for _, b := range ans.Then {
		put(b, false)
	}
	return true
}

// beside notes a thread that this client was given from the lifecycle.
func (p *Play) beside(l *launch, result jsontext.Value) {
	var r struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if decode(result, &r) == nil && r.Thread.ID != "" {
		l.beside = append(l.beside, p.tr(r.Thread.ID))
	}
}

// echoes puts the words of this client's request where an answer repeats those
// of the recorded one.
func echoes(recorded, subject jsontext.Value) *strings.Replacer {
	var pairs []string
	var rec, sub any
	if decode(recorded, &rec) == nil && decode(subject, &sub) == nil {
		eachEcho(rec, sub, func(was, is string) {
			if len(was) < fewWords || was == is || uuidAt([]byte(was), 0) || slices.Contains(places, was) {
				return
			}
			a, _ := jsontext.AppendQuote(nil, was)
			b, _ := jsontext.AppendQuote(nil, is)
			pairs = append(pairs, string(a), string(b))
		})
	}
	return strings.NewReplacer(pairs...)
}

// eachEcho calls do with the strings that stand at the same place of both.
func eachEcho(rec, sub any, do func(was, is string)) {
	switch rec := rec.(type) {
	case string:
		if is, ok := sub.(string); ok {
			do(rec, is)
		}
	case map[string]any:
		if sub, ok := sub.(map[string]any); ok {
			for name, v := range rec {
				eachEcho(v, sub[name], do)
			}
		}
	case []any:
		if sub, ok := sub.([]any); ok {
			for i, v := range rec[:min(len(rec), len(sub))] {
				eachEcho(v, sub[i], do)
			}
		}
	}
}

// gave reports whether this play has told its client of a thread: of any other
// the runtime knows nothing. A request that names none is about none.
func (p *Play) gave(l *launch, thread string) bool {
	if thread == "" || p.o.KeepIDs && thread != fixtures.UnknownSession || slices.Contains(l.beside, thread) {
		return true
	}
	for _, id := range p.bound {
		if id == thread {
			return true
		}
	}
	return false
}

// answerTo is what the lifecycle holds for a request: for one about a thread that
// nobody has, the answer to one; for one that sets something, the answer to the
// same value.
func (p *Play) answerTo(l *launch, a *act) (fixtures.Answer, bool) {
	unknown := a.kind == KindRead && !p.gave(l, a.thread)
	for _, x := range p.o.Lifecycle.Answers {
		if x.Method == a.method && unknown == bytes.Contains(x.Params, []byte(fixtures.UnknownSession)) && (a.kind != KindSet || p.s.dialect.setting(x.Params) == a.text) {
			return x, true
		}
	}
	return fixtures.Answer{}, false
}

// idle reports whether no turn of the process runs or is about to.
func (p *Play) idle(l *launch) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		if r := &p.s.lines[i]; r.w.Process == l.n && r.claimed != nil && r.act.kind == KindSend {
			return false
		}
	}
	return l.turns <= 0
}
