package standin

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// stdin is the writing end of a process's stdin. A runtime reads all the time, so
// that a write never blocks.
type stdin struct{ l *launch }

// Write implements io.Writer.
func (s stdin) Write(b []byte) (int, error) {
	p := s.l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.l.ended || s.l.shut || s.l.stdinClosed {
		return 0, io.ErrClosedPipe
	}
	n := len(b)
	if p.s.rt.Process.Message != nil {
		s.l.input = append(s.l.input, b...)
		return n, nil
	}
	for {
		line, rest, ok := bytes.Cut(b, []byte("\n"))
		if !ok {
			s.l.input = append(s.l.input, b...)
			return n, nil
		}
		whole := bytes.Clone(append(s.l.input, line...))
		s.l.input = nil
		p.takeLine(s.l, bytes.TrimSuffix(whole, []byte("\r")))
		b = rest
	}
}

// Close implements io.Closer.
func (s stdin) Close() error {
	p := s.l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.l.shut {
		return nil
	}
	if !s.l.ended {
		if message := p.s.rt.Process.Message; message != nil {
			p.takeLine(s.l, message(s.l.argv, s.l.input))
		} else if len(s.l.input) > 0 {
			p.takeLine(s.l, s.l.input)
		}
		s.l.input = nil
	}
	s.l.shut = true
	if !s.l.ended {
		w := &ClientAction{Process: s.l.n, At: time.Now(), Kind: KindClose}
		for i := range p.s.lines {
			if r := &p.s.lines[i]; r.w.Process == s.l.n && r.w.Dir == fixtures.EOF {
				w.Matched = r.w
			}
		}
		p.actions = append(p.actions, w)
	}
	p.change.Broadcast()
	return nil
}

// takeLine handles a line of the subject.
func (p *Play) takeLine(l *launch, b []byte) {
	s := readStep(p.s.rt, b)
	w := &ClientAction{
		Process: l.n, At: time.Now(), Bytes: b, Kind: s.Kind, Method: s.Method, Text: s.Step.Text,
		Answer: s.Step.Answer.Word, RequestID: wire.Unquote(s.id),
	}
	p.actions = append(p.actions, w)
	defer p.change.Broadcast()
	if s.Kind == KindSend {
		l.asksUsage = s.Step.AsksUsage
	}
	l.offers = append(l.offers, s.Step.Offers...)
	switch {
	case p.ignoresInput(l):
	case p.claimVerbatim(l, w, &s):
	case !l.ready && p.refuseFirst(l, &s):
	case p.refuseChanged(l, &s, b): // it holds the very words of the runtime
	case p.refuseMisfit(l, &s, b):
	case l.judge.IgnoresSecond(refusal.Request{Line: s.Line, Bytes: b}):
	case s.isHandshake() && !l.ready:
		l.hello, l.ready = *s.Step, true
		if !p.claim(l, w, &s) && !p.isCutOff(l, &s) {
			p.refuseUnrecorded(l, &s)
		}
	case s.isHandshake() && s.Step.Rereads:
		p.answerRead(l, w, &s)
	case !l.ready && s.Step.AfterHandshake:
		p.violationf("process %d: %s before initialize", l.n, describe(&s))
		p.refuse(l, &s, wire.NotInitialized)
	case s.Kind == KindNote:
		p.claim(l, w, &s)
	case s.Kind == KindJunk && l.judge.IgnoresUnnamed(refusal.Request{Line: s.Line, Bytes: b}):
	case s.Kind == KindJunk:
		p.violationf("process %d: wrote a line that is not of this wire: %.300q", l.n, b)
	case s.Step.Invalid != "":
		p.violationf("process %d: %s: %s", l.n, describe(&s), s.Step.Invalid)
		p.refuse(l, &s, s.Step.Invalid)
	case s.Kind == KindAnswer:
		p.takeAnswer(l, w, &s)
	case s.Kind == KindRead:
		p.answerRead(l, w, &s)
	case p.claim(l, w, &s):
	case p.refuseRepeated(l, &s, b):
	case p.repeatSetting(l, &s):
	case p.refuseSetting(l, &s):
	case p.isOutside(l, &s) && p.replyToRead(l, &s):
		if s.Kind == KindSet {
			p.noteChoice(l, nil, &s)
		}
	case s.Kind == KindStop && p.replyHasEnded(l):
	case p.isCutOff(l, &s):
		l.pastCut = true
	default:
		p.noteContradiction(l, &s)
		p.noteReplacement(l, &s)
		p.refuseUnrecorded(l, &s)
	}
}

// repeatSetting replies to a setting that the recording's client made: it is made a second time, or
// leaves out what that one sets.
func (p *Play) repeatSetting(l *launch, s *step) bool {
	if s.Kind != KindSet || s.id == nil || !p.gaveThread(l, s.Session) {
		return false
	}
	for i := range p.s.lines {
		rec := &p.s.lines[i]
		if rec.w.Dir != fixtures.In {
			continue
		}
		repeats := rec.w.Process == l.n && rec.claimed != nil && rec.by.Method == s.Method && bytes.Equal(rec.by.Params, s.Params)
		if repeats || rec.step.Method == s.Method && s.Step.Text == "" && rec.step.Step.Text != "" {
			b, ok := p.recordedReply(l, s)
			if ok {
				p.noteChoice(l, nil, s)
				p.writeReply(l, b)
			}
			return ok
		}
	}
	return false
}

// writeReply writes a line that does not move the play. The bytes may be shared with
// other plays, so the line end is not appended in place.
func (p *Play) writeReply(l *launch, b []byte) {
	if b != nil {
		l.stdout.writeOut(append(slices.Clip(b), '\n'))
	}
}

// claimVerbatim takes a line against the rules that the recording's client wrote
// too, byte for byte.
func (p *Play) claimVerbatim(l *launch, w *ClientAction, s *step) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.invalid && rec.w.Process == l.n && rec.claimed == nil && p.translate(string(rec.w.Bytes), l) == string(w.Bytes) {
			p.matchStep(rec, w, s)
			return true
		}
	}
	return false
}

// isOutside reports whether a step is about something else than the recorded
// session: a stop while nothing runs, a setting, another thread.
func (p *Play) isOutside(l *launch, s *step) bool {
	return s.Kind == KindStop && p.isIdle(l) || s.Kind == KindSet || s.Kind == KindSession || s.Step.Ephemeral || slices.Contains(l.otherThreads, s.Session)
}

// replyHasEnded reports whether nothing is left of the reply that plays but its end. A client
// that has seen enough may stop it then: the runtime does nothing more.
func (p *Play) replyHasEnded(l *launch) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		switch {
		case rec.w.Process != l.n:
		case rec.w.Dir != fixtures.Out:
			return false
		default:
			return !slices.ContainsFunc(rec.parts, func(x part) bool { return !x.line.EndsReply })
		}
	}
	return false
}

// ignoresInput reports whether a process takes nothing any more: it hangs, or a
// fault ends it whatever its client does.
func (p *Play) ignoresInput(l *launch) bool {
	if l.n == 0 || p.hangs(l.n) {
		return true
	}
	if p.o.Fault == nil || l.shutPlayed {
		return false
	}
	for i := p.pos; i < len(p.s.lines); i++ {
		if r := p.s.lines[i].w; r.Process == l.n && (r.Dir == fixtures.In || r.Dir == fixtures.EOF) {
			return false
		}
	}
	return true
}

// isCutOff reports whether the case holds the step in a part that a fault has cut
// off.
func (p *Play) isCutOff(l *launch, s *step) bool {
	if p.o.Fault == nil {
		return false
	}
	for i := range p.c.Wire {
		if w := &p.c.Wire[i]; w.Process == l.n && w.Dir == fixtures.In {
			if rec := readStep(p.s.rt, w.Bytes); sameStep(&rec, s, p.playedID) || sameInTranscript(&rec, s, p.playedID) {
				return true
			}
		}
	}
	return false
}

// hangs reports whether a process has played all its lines and does not end.
func (p *Play) hangs(n int) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		if p.s.lines[i].w.Process == n {
			return false
		}
	}
	return p.s.processes[n].exit < 0
}

// claim gives the step to the first recorded one that equals it and has none yet. If
// none does, it gives a message to the first recorded one with which it ends as a
// transcript.
func (p *Play) claim(l *launch, w *ClientAction, s *step) bool {
	return p.claimBy(l, w, s, sameStep) || (s.Kind == KindSend || s.Kind == KindSteer) && p.claimBy(l, w, s, sameInTranscript)
}

// speaker precedes a message in a transcript. Clients that are written for chats
// send one with each message, such as "User: Hello".
var speaker = regexp.MustCompile(`(^|\n)[A-Z][a-z]*: $`)

// sameInTranscript reports whether the client sent a recorded message as the end of
// a transcript, behind the name of its speaker.
func sameInTranscript(rec, sub *step, played func(string) string) bool {
	before, ok := strings.CutSuffix(sub.Step.Text, rec.Step.Text)
	if !ok || rec.Step.Text == "" || !speaker.MatchString(before) {
		return false
	}
	l, s := *sub.Line, *sub.Step
	s.Text, l.Step = rec.Step.Text, &s
	return sameStep(rec, &step{Line: &l}, played)
}

func (p *Play) claimBy(l *launch, w *ClientAction, s *step, same func(rec, sub *step, played func(string) string) bool) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In || rec.claimed != nil || rec.step.Kind == KindAnswer {
			continue
		}
		p.bindResumed(l, &rec.step, s)
		if rec.step.Kind == KindSession && p.s.chosen[rec.step.Turn] && !p.named[rec.step.Turn] {
			p.bind(rec.step.Turn, s.Turn) // of a message that was never sent
		}
		if !same(&rec.step, s, p.playedID) {
			continue
		}
		if s.Kind == KindStop && i != p.pos && !rec.step.free && p.isIdle(l) {
			return false // it stops nothing, and the recorded stop is of another turn
		}
		if s.Kind == KindStop && rec.step.free && p.o.ReadReplies != nil && p.haltsBefore(l, i) {
			return false // it stops nothing either, and the recorded reply would come much later
		}
		p.matchStep(rec, w, s)
		return true
	}
	return false
}

// haltsBefore reports whether the play halts for a step of the process before it
// comes to a line.
func (p *Play) haltsBefore(l *launch, at int) bool {
	return slices.ContainsFunc(p.s.lines[p.pos:at], func(rec line) bool {
		return rec.w.Process == l.n && rec.w.Dir == fixtures.In && rec.step.halts() && rec.claimed == nil
	})
}

func (p *Play) matchStep(rec *line, w *ClientAction, s *step) {
	rec.claimed, rec.by, w.Matched = w, *s, rec.w
	run := p.launches[rec.w.Process]
	run.judge.Accept(refusal.Request{Line: s.Line, Bytes: w.Bytes})
	p.noteChoice(run, rec, s)
	p.bind(rec.step.Step.Reason, s.Step.Reason)
	if dir := s.Step.Dir; rec.step.Step.Dir == "<work>" && dir != "" && dir != "<work>" { // the process itself may have been started anywhere
		run.dir = dir
	}
	if rec.step.Step.MessageID != "" && s.Step.MessageID != "" {
		p.bind(rec.step.Step.MessageID, s.Step.MessageID)
		p.named[rec.step.Step.MessageID] = true
	}
}

// bindResumed takes the thread that a client resumes in a play that did not play
// its beginning.
func (p *Play) bindResumed(l *launch, rec, s *step) {
	if p.isFirstOfLater(l.n) && rec.Kind == KindOpen && rec.Method == s.Method && rec.Session != "" && s.Session != "" {
		p.bind(rec.Session, s.Session)
	}
}

// isFirstOfLater reports whether a process is the first of a play that leaves out
// the processes before it.
func (p *Play) isFirstOfLater(process int) bool { return p.o.First > 1 && process == p.o.First }

// takeAnswer handles a reply to a request of the runtime.
func (p *Play) takeAnswer(l *launch, w *ClientAction, s *step) {
	id := string(s.id)
	request := l.asked[id]
	switch {
	case request == nil:
		p.violationf("process %d: replied to request %s, which was never made", l.n, id)
		return
	case l.answered[id]:
		p.violationf("process %d: replied to request %s a second time", l.n, id)
		return
	}
	l.answered[id], w.Asked, w.Tool = true, request.Method, request.Asked.Tool
	w.Calls, w.Hook = request.Asked.Calls, request.Asked.Hook != ""
	offers := w.Calls && !w.Hook && request.Asked.Call == ""
	misfit := p.misfit(w.Asked, s, w.Bytes)
	for i := range p.s.lines {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In || rec.step.Kind != KindAnswer || rec.claimed != nil ||
			p.translate(string(rec.step.id), nil) != id {
			continue
		}
		want := rec.step.Step.Answer
		want.Value = p.translateJSON(want.Value, l)
		why := difference(want, s.Step.Answer, p.translateJSON(request.Asked.Input, l))
		if p.misfit(w.Asked, &rec.step, rec.w.Bytes) == "" { // else the recording's client sent a misfit on purpose
			w.Contrary = why
			if invalid := cmp.Or(misfit, p.differs(l, rec, s, w.Bytes, offers)); invalid != "" {
				why, w.Contrary = cmp.Or(misfit, why, invalid), ""
			}
		}
		if why != "" && !rec.step.optional { // a late answer decided nothing
			p.violationf("process %d: request %s: %s", l.n, id, why)
		}
		p.matchStep(rec, w, s)
		return
	}
	if misfit != "" {
		p.violationf("process %d: request %s: %s", l.n, id, misfit)
	}
	// The recording's client left it open, because it stopped the turn, say. A
	// refusal is harmless then.
	if answer := s.Step.Answer.Word; p.o.Fault == nil && (answer == Allow || answer == Value) {
		p.unrecordedf("process %d: answer to request %s: %s", l.n, id, answer)
	}
}

// differs returns which member of a reply is other than in the recorded one, if the version was
// found to do something else then, or "".
func (p *Play) differs(l *launch, rec *line, s *step, reply []byte, offers bool) string {
	if s.Step.Answer.Word != rec.step.Step.Answer.Word {
		return "" // another decision, which is none of the members' alone
	}
	v := l.judge.Reply(refusal.Request{Line: s.Line, Bytes: reply, Offers: offers}, []byte(p.translate(string(rec.w.Bytes), l)))
	if v == nil {
		return ""
	}
	return v.String()
}

// misfit returns why a reply is one that the runtime does not understand, or "".
func (p *Play) misfit(method string, s *step, reply []byte) string {
	m := p.o.ReadReplies.MisfitReply(method, s.Result)
	if m != nil && !s.Failed { // each request may be answered by an error
		return "the reply to " + method + ": " + m.Why + p.howToAsk(s, m.Path)
	}
	if f := p.s.rt.Replies.Misfit; f != nil {
		return f(method, reply)
	}
	return ""
}
