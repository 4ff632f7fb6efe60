package standin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// refuseFirst refuses a request before the handshake, if the version was found to refuse another
// method there.
func (p *Play) refuseFirst(l *launch, s *step) bool {
	if s.id == nil || s.isHandshake() || s.Step.AfterHandshake || s.Kind == KindAnswer || s.Kind == KindJunk {
		return false
	}
	v := l.judge.First()
	return v != nil && p.playVerdict(l, s, v)
}

// refuseRepeated refuses a request that the client has made before, if the version was found to
// refuse it the second time.
func (p *Play) refuseRepeated(l *launch, s *step, b []byte) bool {
	v := l.judge.Again(refusal.Request{Line: s.Line, Bytes: b})
	return v != nil && p.playVerdict(l, s, v)
}

// refuseSetting refuses a setting that the case does not hold and that the runtime would
// refuse because of its command line. The lifecycle was recorded with another one.
func (p *Play) refuseSetting(l *launch, s *step) bool {
	f := p.s.rt.Replies.RefuseSetting
	if f == nil || s.Kind != KindSet {
		return false
	}
	why := f(l.argv, s.Step.Text)
	if why != "" {
		p.refuse(l, s, why)
	}
	return why != ""
}

// refuseMisfit refuses a request or a notification that does not have the form that the version
// demands.
func (p *Play) refuseMisfit(l *launch, s *step, b []byte) bool {
	if s.Kind == KindAnswer {
		return false
	}
	m := p.o.ReadReplies.Misfit(s.Method, s.id != nil, s.Params, b)
	if m == nil || l.judge.Ignores(refusal.Request{Line: s.Line, Bytes: b}, m.Path) {
		return false
	}
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.w.Process == l.n && rec.claimed == nil && rec.w.Dir == fixtures.In && rec.step.Method == s.Method && p.o.ReadReplies.Misfit(s.Method, rec.step.id != nil, rec.step.Params, rec.w.Bytes) != nil {
			return false // the recording's client wrote it too, and holds the runtime's refusal
		}
	}
	p.violationf("process %d: %s: %s%s", l.n, describe(s), m.Why, p.howToAsk(s, m.Path))
	if f := p.s.rt.Replies.RefuseMisfit; f != nil {
		p.writeReply(l, f(s.Line, wire.Part(m.Part), m.Why))
	} else {
		p.refuse(l, s, "Invalid request: "+m.Why)
	}
	return true
}

// howToAsk returns the command that shows what the real runtime does with a change of a member; ""
// if no program of a vendor can be asked.
func (p *Play) howToAsk(s *step, path string) string {
	if len(p.s.rt.BuiltIn) > 0 {
		return ""
	}
	fact := strings.TrimSpace(refusal.LineName(s.Line) + " " + path)
	return fmt.Sprintf("; to ask the runtime: turnspec census %s@%s --scenario %s --fact '%s'", p.c.Runtime, p.c.Version, p.c.Scenario, fact)
}

// refuseChanged does with a line what the version was found to do with such a one, if it does not
// do what the line asks.
func (p *Play) refuseChanged(l *launch, s *step, b []byte) bool {
	v := l.judge.Line(refusal.Request{Line: s.Line, Bytes: b, InTurn: l.turns > 0, Given: p.gave})
	return v != nil && p.playVerdict(l, s, v)
}

// playVerdict reports a violation, and does what the version was found to do. It returns false if
// the version goes on: the recording is the nearest to what it does.
func (p *Play) playVerdict(l *launch, s *step, v *refusal.Verdict) bool {
	p.violationf("process %d: %s: %s", l.n, describe(s), v)
	switch v.Effect {
	case refusal.EffectRefuses:
		if f := p.s.rt.Replies.Fail; f != nil {
			p.writeReply(l, f(s.Line, v.Error))
		}
	case refusal.EffectExits:
		_, _ = l.stderr.TryWrite([]byte(v.Message + "\n"))
		l.endProcess(proc.Exit{Code: v.Code})
	case refusal.EffectNone, refusal.EffectSilent:
	case refusal.EffectDiffers:
		return false
	}
	return true
}

// noteContradiction reports a step that is none of the user's: it has the kind of one that the
// recording's client did, but other words, or the id of another session, turn or task. A client
// that does something else instead, such as to send where the recording steers, may do so.
func (p *Play) noteContradiction(l *launch, s *step) {
	if p.o.Fault != nil || !s.namesWhat() || len(s.Step.Results) > 0 && s.Step.Text == "" { // a request with results repeats the message
		return
	}
	why := ""
	for i := range p.s.lines {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In || rec.step.Kind != s.Kind || rec.step.Method != s.Method || rec.step.free || rec.invalid {
			continue
		}
		if rec.claimed != nil {
			if s.Kind == KindSend && s.Step.Text != "" && s.Step.Text == rec.step.Step.Text {
				why = cmp.Or(why, "the client sent this message once")
			}
			continue
		}
		differs := p.contradiction(rec, s)
		if differs == "" {
			return
		}
		why = differs
	}
	if why != "" {
		p.violationf("process %d: %s: %s", l.n, describe(s), why)
	}
}

// contradiction returns how a step differs from a recorded one of its kind in what the client
// did; "" if it may be the same.
func (p *Play) contradiction(rec *line, s *step) string {
	r := &rec.step
	switch {
	case r.Step.Text != "" && !strings.Contains(s.Step.Text, r.Step.Text):
		return fmt.Sprintf("the client's words are %q", r.Step.Text)
	case r.Session != "" && p.playedID(r.Session) != s.Session:
		return fmt.Sprintf("the session is %q", p.playedID(r.Session))
	case r.Turn != "" && p.playedID(r.Turn) != s.Turn:
		return fmt.Sprintf("the turn is %q", p.playedID(r.Turn))
	case r.Step.Target != "" && p.playedID(r.Step.Target) != s.Step.Target:
		return fmt.Sprintf("it is about %q", p.playedID(r.Step.Target))
	}
	return ""
}

// refuseUnrecorded reports a step that the case does not hold, and refuses it. A request of a method
// that the runtime does not have is a violation if it is known which ones there are.
func (p *Play) refuseUnrecorded(l *launch, s *step) {
	why := "the recording does not hold this: " + describe(s)
	known := p.s.rt.Replies.Methods
	if s.Kind != KindRead || s.id == nil || p.holdsMethod(s.Method) || slices.Contains(known, s.Method) {
		p.unrecordedf("process %d: %s", l.n, describe(s))
		p.refuse(l, s, why)
		return
	}
	if len(known) > 0 {
		p.violationf("process %d: %s: the runtime has no such method", l.n, describe(s))
	} else {
		p.unrecordedf("process %d: %s", l.n, describe(s))
	}
	if e := p.o.ReadReplies.RejectUnknown(s.Method); e != nil {
		p.writeReply(l, p.s.rt.Replies.Fail(s.Line, e))
		return
	}
	p.refuse(l, s, why)
}

// holdsMethod reports whether the recording's client made a request of this method.
func (p *Play) holdsMethod(method string) bool {
	return slices.ContainsFunc(p.s.lines, func(rec line) bool { return rec.w.Dir == fixtures.In && rec.step.Method == method })
}

// refuse writes an error reply if the wire has one for the step.
func (p *Play) refuse(l *launch, s *step, why string) {
	if f := p.s.rt.Replies.Refuse; f != nil && s.Kind != KindAnswer {
		p.writeReply(l, f(s.Line, why))
	}
}
