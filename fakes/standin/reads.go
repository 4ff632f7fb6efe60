package standin

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// answerRead answers a read at once, from the case or from the lifecycle.
func (p *Play) answerRead(l *launch, w *ClientAction, s *step) {
	if p.gaveThread(l, s.Session) {
		if p.claimNextRead(l, w, s) {
			return
		}
		if b, ok := p.recordedReply(l, s); ok {
			p.writeReply(l, b)
			l.judge.Accept(refusal.Request{Line: s.Line, Bytes: w.Bytes})
			return
		}
	}
	if !p.replyToRead(l, s) {
		p.refuseUnrecorded(l, s)
		return
	}
	l.judge.Accept(refusal.Request{Line: s.Line, Bytes: w.Bytes})
}

// claimNextRead gives a read to the recorded one if the play has come to it. Its
// reply is then played in its place.
func (p *Play) claimNextRead(l *launch, w *ClientAction, s *step) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In {
			return false
		}
		if rec.claimed == nil && rec.step.Kind == s.Kind && rec.step.Method == s.Method {
			p.matchStep(rec, w, s)
			return true
		}
	}
	return false
}

// recordedReply is the reply to the same method anywhere in the case.
func (p *Play) recordedReply(l *launch, s *step) ([]byte, bool) {
	for i := range p.s.lines {
		for k := range p.s.lines[i].parts {
			pt := &p.s.lines[i].parts[k]
			if pt.reply < 0 || p.s.lines[pt.reply].invalid {
				continue
			}
			if rec := &p.s.lines[pt.reply].step; rec.Kind == s.Kind && rec.Method == s.Method {
				return p.splice(nil, pt.b, pt.slots, s.id, l, true), true
			}
		}
	}
	return nil, false
}

// replyFromLifecycle answers as the runtime did when it was asked outside of any
// turn. It returns false if the lifecycle holds no such request.
func (p *Play) replyToRead(l *launch, s *step) bool {
	if p.o.ReadReplies == nil || s.id == nil {
		return false
	}
	ans, ok := p.lifecycleAnswer(l, s)
	if !ok {
		return false
	}
	rt, own := p.s.rt, p.lifecycleThread()
	echo := echoReplacer(ans.Params, s.Params)
	write := func(b jsontext.Value, reply bool) {
		b = jsontext.Value(echo.Replace(string(b)))
		if session := p.s.processes[l.n].session; session != "" && own != "" {
			b = bytes.ReplaceAll(b, []byte(own), []byte(session))
		}
		var x wire.Line
		if !reply {
			if x = rt.ReadOutput(b); !l.wants(&x) {
				return
			}
		}
		pt, r := part{b: b, line: &x, reply: -1}, readSlots(rt, b, &x)
		p.s.addSlots(&pt, &r, nil, "")
		b = p.splice(nil, pt.b, pt.slots, nil, l, true)
		if s.Session != "" {
			b = bytes.ReplaceAll(b, []byte(fixtures.UnknownSession), []byte(s.Session))
		}
		p.writeReply(l, b)
	}
	for _, b := range ans.Before {
		write(b, false)
	}
	if ans.Error != nil {
		write(rt.Replies.Fail(s.Line, ans.Error), true)
	} else {
		l.mode = cmp.Or(s.Step.Mode, l.mode)
		b := rt.Replies.Result(s.Line, ans.Result)
		if s.Step.Ephemeral {
			if opened := rt.ReadOutput(b).Opened; opened != "" {
				l.otherThreads = append(l.otherThreads, p.playedID(opened))
			}
		}
		write(b, true)
	}
	for _, b := range ans.Then {
		write(b, false)
	}
	return true
}

// lifecycleThread is the thread on which the lifecycle was recorded, or "".
func (p *Play) lifecycleThread() string {
	member := p.s.rt.Options.SessionMember
	if member == "" {
		return ""
	}
	for _, x := range p.o.ReadReplies.Replies {
		if at, ok := wire.Member(x.Params, member); ok {
			if id := wire.Unquote(x.Params[at.From:at.To]); id != "" {
				return id
			}
		}
	}
	return ""
}

// echoReplacer puts the strings of this client's request where an answer repeats
// those of the recorded one.
func echoReplacer(recorded, subject jsontext.Value) *strings.Replacer {
	var pairs []string
	var rec, sub any
	if wire.Decode(recorded, &rec) == nil && wire.Decode(subject, &sub) == nil {
		eachStringPair(rec, sub, func(was, is string) {
			if len(was) < minReason || was == is || uuidAt([]byte(was), 0) || slices.Contains(places, was) {
				return
			}
			a, _ := jsontext.AppendQuote(nil, was)
			b, _ := jsontext.AppendQuote(nil, is)
			pairs = append(pairs, string(a), string(b))
		})
	}
	return strings.NewReplacer(pairs...)
}

// eachStringPair calls do with the strings at the same place of both values.
func eachStringPair(rec, sub any, do func(was, is string)) {
	switch rec := rec.(type) {
	case string:
		if is, ok := sub.(string); ok {
			do(rec, is)
		}
	case map[string]any:
		if sub, ok := sub.(map[string]any); ok {
			for name, v := range rec {
				eachStringPair(v, sub[name], do)
			}
		}
	case []any:
		if sub, ok := sub.([]any); ok {
			for i, v := range rec[:min(len(rec), len(sub))] {
				eachStringPair(v, sub[i], do)
			}
		}
	}
}

// gaveThread reports whether this play has given a thread to its client. The runtime
// does not have any other. A request that names no thread is about none.
func (p *Play) gaveThread(l *launch, thread string) bool {
	if thread == "" || p.o.KeepIDs && thread != fixtures.UnknownSession || slices.Contains(l.otherThreads, thread) {
		return true
	}
	for _, id := range p.bound {
		if id == thread {
			return true
		}
	}
	return false
}

// lifecycleAnswer is what the lifecycle holds for a request. If the request is about
// a thread that does not exist, it is the answer to such a request; if it sets
// something, the answer to the same value.
func (p *Play) lifecycleAnswer(l *launch, s *step) (fixtures.ReadReply, bool) {
	unknown := s.Kind == KindRead && !p.gaveThread(l, s.Session)
	setting := p.s.rt.Replies.Setting
	for _, x := range p.o.ReadReplies.Replies {
		if x.Method != s.Method || unknown != bytes.Contains(x.Params, []byte(fixtures.UnknownSession)) {
			continue
		}
		value := ""
		if s.Kind == KindSet && setting != nil {
			value = setting(x.Params)
		}
		if s.Kind != KindSet || value == s.Step.Text {
			return x, true
		}
	}
	return fixtures.ReadReply{}, false
}

// isIdle reports whether no turn of the process runs or is about to.
func (p *Play) isIdle(l *launch) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		if r := &p.s.lines[i]; r.w.Process == l.n && r.claimed != nil && r.step.Kind == KindSend {
			return false
		}
	}
	return l.turns <= 0
}
