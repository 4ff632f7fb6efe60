package standin

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// stdin is the writing end of a process's stdin. A runtime reads all the time:
// a write never blocks.
type stdin struct{ l *launch }

// Write implements io.Writer.
func (s stdin) Write(b []byte) (int, error) {
	p := s.l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.l.over || s.l.shut || s.l.deaf {
		return 0, io.ErrClosedPipe
	}
	n := len(b)
	if _, whole := p.s.dialect.input(s.l, nil); whole {
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
		p.take(s.l, bytes.TrimSuffix(whole, []byte("\r")))
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
	if all, whole := p.s.dialect.input(s.l, s.l.input); whole && !s.l.over {
		p.take(s.l, all)
		s.l.input = nil
	}
	if len(s.l.input) > 0 && !s.l.over {
		p.take(s.l, s.l.input)
		s.l.input = nil
	}
	s.l.shut = true
	if !s.l.over {
		w := &ClientAction{Process: s.l.n, At: time.Now(), Kind: KindClose}
		for i := range p.s.lines {
			if r := &p.s.lines[i]; r.w.Process == s.l.n && r.w.Dir == fixtures.EOF {
				w.Matched = r.w
			}
		}
		p.wrote = append(p.wrote, w)
	}
	p.change.Broadcast()
	return nil
}

// take handles a line of the subject.
func (p *Play) take(l *launch, b []byte) {
	a := p.s.dialect.act(b)
	w := &ClientAction{
		Process: l.n, At: time.Now(), Bytes: b, Kind: a.kind, Method: a.method, Text: a.text,
		Answer: a.answer.decision, RequestID: unquote(a.id),
	}
	p.wrote = append(p.wrote, w)
	defer p.change.Broadcast()
	switch {
	case p.deaf(l):
	case p.verbatim(l, w, &a):
	case a.kind == KindOpen && a.method == "initialize" && !l.ready:
		l.caps, l.hooks, l.ready = a.caps, a.hooks, true
		p.handshake(l, w, &a)
	case !l.ready && p.s.dialect.mustInitialize() && a.id != nil && a.kind != KindAnswer:
		p.violationf("process %d: %s before initialize", l.n, describe(&a))
		p.reply(l, p.s.dialect.refuse(&a, notInitialized))
	case a.kind == KindNote:
		p.claim(l, w, &a)
	case a.kind == KindJunk:
		p.violationf("process %d: wrote a line that is not of this wire: %.300q", l.n, b)
	case a.kind == KindAnswer:
		p.answered(l, w, &a)
	case a.kind == KindRead:
		p.read(l, w, &a)
	case p.claim(l, w, &a):
	case p.outside(l, &a) && p.fromLifecycle(l, &a):
		if a.kind == KindSet {
			p.chooses(l, nil, &a)
		}
	case p.cutOff(l, &a):
		l.beyond = true
	default:
		p.otherwise(l, &a)
		p.unrecordedf("process %d: %s", l.n, describe(&a))
		p.reply(l, p.s.dialect.refuse(&a, "the recording does not hold this: "+describe(&a)))
	}
}

// handshake takes an initialize.
func (p *Play) handshake(l *launch, w *ClientAction, a *act) {
	switch {
	case p.claim(l, w, a):
	case p.cutOff(l, a):
	default:
		p.unrecordedf("process %d: %s", l.n, describe(a))
		p.reply(l, p.s.dialect.refuse(a, "the recording does not hold this: "+describe(a)))
	}
}

// verbatim takes a line against the rules that the recording's client wrote too,
// byte for byte.
func (p *Play) verbatim(l *launch, w *ClientAction, a *act) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.odd && rec.w.Process == l.n && rec.claimed == nil && p.translate(string(rec.w.Bytes), l) == string(w.Bytes) {
			p.match(rec, w, a)
			return true
		}
	}
	return false
}

// outside reports whether an act is about something else than the recorded
// session: a stop when nothing runs, a setting, a thread beside it.
func (p *Play) outside(l *launch, a *act) bool {
	return a.kind == KindStop && p.idle(l) || a.kind == KindSet || a.kind == KindSession || a.passing || slices.Contains(l.beside, a.thread)
}

// unquote is an id as text.
func unquote(id jsontext.Value) string {
	var s string
	if decode(id, &s) == nil {
		return s
	}
	return string(id)
}

func describe(a *act) string {
	s := string(a.kind)
	if a.method != "" {
		s += " (" + a.method + ")"
	}
	var sSb113 strings.Builder
	for _, id := range []string{a.thread, a.turn} {
		if id != "" {
			sSb113.WriteString(" " + id)
		}
	}
	s += sSb113.String()
	if a.text != "" {
		s += ": " + a.text
	}
	return s
}

// reply writes what moves no play. The bytes may be a lifecycle's own, which
// other plays read: the line end is not written behind them.
func (p *Play) reply(l *launch, b []byte) {
	if b != nil {
		l.stdout.write(append(slices.Clip(b), '\n'))
	}
}

// deaf reports whether a process takes nothing any more: it hangs, or a fault
// lets it end whatever its client does.
func (p *Play) deaf(l *launch) bool {
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

// cutOff reports whether the case holds the act in a part that a fault has cut
// off.
func (p *Play) cutOff(l *launch, a *act) bool {
	if p.o.Fault == nil {
		return false
	}
	for i := range p.c.Wire {
		if w := &p.c.Wire[i]; w.Process == l.n && w.Dir == fixtures.In {
			if rec := p.s.dialect.act(w.Bytes); p.s.dialect.same(&rec, a, p.tr) || p.transcript(&rec, a, p.tr) {
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

// claim gives the act to the first recorded one that equals it and has none yet;
// where none does, to the first message with which its transcript ends.
func (p *Play) claim(l *launch, w *ClientAction, a *act) bool {
	return p.claimAs(l, w, a, p.s.dialect.same) || (a.kind == KindSend || a.kind == KindSteer) && p.claimAs(l, w, a, p.transcript)
}

// speaker stands before a message in a transcript: clients that are written for
// chats make one of each message, such as "User: Hello".
var speaker = regexp.MustCompile(`(^|\n)[A-Z][a-z]*: $`)

// transcript reports whether the client sent a message as the end of a
// transcript, behind who says it.
func (p *Play) transcript(rec, sub *act, tr func(string) string) bool {
	before, ok := strings.CutSuffix(sub.text, rec.text)
	if !ok || rec.text == "" || !speaker.MatchString(before) {
		return false
	}
	bare := *sub
	bare.text = rec.text
	return p.s.dialect.same(rec, &bare, tr)
}

func (p *Play) claimAs(l *launch, w *ClientAction, a *act, same func(rec, sub *act, tr func(string) string) bool) bool {
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In || rec.claimed != nil || rec.act.kind == KindAnswer {
			continue
		}
		p.lenient(l, &rec.act, a)
		if rec.act.kind == KindSession && p.s.chosen[rec.act.turn] && !p.named[rec.act.turn] {
			p.bind(rec.act.turn, a.turn) // of a message that nobody sent
		}
		if !same(&rec.act, a, p.tr) {
			continue
		}
		if a.kind == KindStop && i != p.pos && !rec.act.free && p.idle(l) {
			return false // it stops nothing, and not the turn of which the recording tells
		}
		if a.kind == KindStop && rec.act.free && p.o.Lifecycle != nil && p.halts(l, i) {
			return false // it stops nothing either, and its client would wait for a reply that is to come much later
		}
		p.match(rec, w, a)
		return true
	}
	return false
}

// halts reports whether the play halts for an act of the process before it comes
// to a line.
func (p *Play) halts(l *launch, before int) bool {
	return slices.ContainsFunc(p.s.lines[p.pos:before], func(rec line) bool {
		return rec.w.Process == l.n && rec.w.Dir == fixtures.In && rec.act.halts() && rec.claimed == nil
	})
}

func (p *Play) match(rec *line, w *ClientAction, a *act) {
	rec.claimed, rec.by, w.Matched = w, *a, rec.w
	p.chooses(p.launches[rec.w.Process], rec, a)
	p.bind(rec.act.words, a.words)
	if rec.act.cwd == "<work>" && a.cwd != "" && a.cwd != "<work>" { // the process itself may have been started anywhere
		p.launches[rec.w.Process].dir = a.cwd
	}
	if rec.act.chose != "" && a.chose != "" {
		p.bind(rec.act.chose, a.chose)
		p.named[rec.act.chose] = true
	}
}

// lenient takes the thread that a client resumes in a play that did not play its
// beginning.
func (p *Play) lenient(l *launch, rec, a *act) {
	if p.o.First > 1 && l.n == p.o.First && rec.kind == KindOpen && rec.method == a.method && rec.thread != "" && a.thread != "" {
		p.bind(rec.thread, a.thread)
	}
}

// answered handles a reply to a request of the runtime.
func (p *Play) answered(l *launch, w *ClientAction, a *act) {
	id := string(a.id)
	input, asked := l.asks[id]
	switch {
	case !asked:
		p.violationf("process %d: replied to request %s, which was never made", l.n, id)
		return
	case l.answered[id]:
		p.violationf("process %d: replied to request %s a second time", l.n, id)
		return
	}
	l.answered[id], w.Asked, w.Tool = true, l.asked[id].method, l.asked[id].tool
	misfit := p.s.dialect.misfit(w.Asked, w.Bytes)
	for i := range p.s.lines {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In || rec.act.kind != KindAnswer || rec.claimed != nil ||
			p.translate(string(rec.act.id), nil) != id {
			continue
		}
		want := rec.act.answer
		want.value = p.translateJSON(want.value, l)
		// An answer that came too late decided nothing.
		why := differs(want, a.answer, p.translateJSON(input, l))
		if p.s.dialect.misfit(w.Asked, rec.w.Bytes) == "" { // the recording's client may have wanted to see what comes of it
			why = cmp.Or(misfit, why)
		}
		if why != "" && !rec.act.soft {
			p.violationf("process %d: request %s: %s", l.n, id, why)
		}
		p.match(rec, w, a)
		return
	}
	if misfit != "" {
		p.violationf("process %d: request %s: %s", l.n, id, misfit)
	}
	// The recording's client left it open (it stopped the turn, say). To refuse
	// it then is harmless.
	if p.o.Fault == nil && (a.answer.decision == Allow || a.answer.decision == Value) {
		p.unrecordedf("process %d: answer to request %s: %s", l.n, id, a.answer.decision)
	}
}
