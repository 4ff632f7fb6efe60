package standin

import (
	"cmp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// Step plays the next line that may be played now. It returns false when there
// is none: the play has come to a barrier, waits for a spawn or for the subject
// to read, or is at its end (see State). It never blocks.
func (p *Play) Step() (StepResult, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.o.Manual || !p.peek() {
		return StepResult{}, false
	}
	return p.step(), true
}

// Next returns the recorded time of the next line that may be played.
func (p *Play) Next() (at time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.peek() {
		return 0, false
	}
	return p.next(), true
}

// Ready waits until a line may be played; false says that the play was closed
// first. With it, whoever steps needs no clock to know when to.
func (p *Play) Ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && !p.peek() {
		p.change.Wait()
	}
	return !p.closed
}

// next never goes back: a fault and settle may put lines out of their time.
func (p *Play) next() time.Duration { return max(p.at, p.s.lines[p.pos].w.T) }

// State says where the play stands.
func (p *Play) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	var s State
	ready := p.peek()
	if p.pos >= len(p.s.lines) {
		s.Finished = true
		return s
	}
	l := &p.s.lines[p.pos]
	s.Process = l.w.Process
	switch {
	case ready:
	case p.launchOf(l.w.Process) == nil:
		s.AwaitSpawn = true
	case l.w.Dir == fixtures.In || l.w.Dir == fixtures.EOF || l.w.Dir == fixtures.Signal:
		s.Barrier = p.barrier(l)
	default:
		s.Blocked = true
	}
	return s
}

func (p *Play) barrier(l *line) *Barrier {
	b := &Barrier{Kind: l.act.kind, Method: l.act.method, Line: l.w, Text: l.act.text}
	if l.act.kind == KindAnswer {
		b.Request = unquote(jsontext.Value(p.translate(string(l.act.id), nil)))
		b.Answer, b.Value = l.act.answer.decision, l.act.answer.value
	}
	return b
}

// peek goes to the next line that this client gets or that something waits for,
// and reports whether it may be played now.
func (p *Play) peek() bool {
	for !p.closed && p.pos < len(p.s.lines) {
		l := &p.s.lines[p.pos]
		run := p.launchOf(l.w.Process)
		switch {
		case run == nil:
			return false
		case run.over:
			p.pos++
			continue
		case run.shut && !run.shutPlayed && l.w.Dir != fixtures.EOF && p.s.dialect.closesAtOnce() && p.skipToExit(l.w.Process):
			continue
		}
		switch l.w.Dir {
		case fixtures.In:
			switch {
			case l.claimed != nil:
				return true
			case l.act.kind == KindAnswer && p.o.Fault == nil && p.unasked(l, run):
				p.pos++ // this client was not asked
			case !l.act.halts() && !l.odd || l.act.soft && p.later(l.w.Process):
				p.pos++
			case run.shut && p.skipToExit(l.w.Process):
			default:
				return false
			}
		case fixtures.EOF:
			return run.shut
		case fixtures.Out, fixtures.Err:
			if run.full() {
				return false
			}
			if p.writes(l, run) {
				return true
			}
			p.pos++
		case fixtures.Exit:
			return !run.full()
		case fixtures.Signal:
			return !p.s.dialect.waitsFor(l.w.Signal)
		default:
			return true
		}
	}
	return false
}

// later reports whether the subject has done an act of the process that comes
// after the one that the play stands at.
func (p *Play) later(process int) bool {
	if run := p.launchOf(process); run.shut || run.beyond {
		return true
	}
	for i := p.pos + 1; i < len(p.s.lines); i++ {
		if l := &p.s.lines[i]; l.w.Process == process && l.claimed != nil && l.act.halts() {
			return true
		}
	}
	return false
}

// skipToExit goes to the recorded end of the process, since its client closed
// stdin before the recording's did. Without a recorded end it hangs.
func (p *Play) skipToExit(process int) bool {
	for i := p.pos + 1; i < len(p.s.lines); i++ {
		if l := &p.s.lines[i]; l.w.Process == process && l.w.Dir == fixtures.Exit {
			p.launchOf(process).shutPlayed = true
			p.pos = i
			return true
		}
	}
	return false
}

// writes reports whether a line writes anything for this client.
func (p *Play) writes(l *line, run *launch) bool {
	for i := range l.parts {
		if l.w.Dir == fixtures.Err {
			return true
		}
		if _, ok := p.gets(&l.parts[i], run); ok {
			return true
		}
	}
	return false
}

// output is what a line writes for this client, with the line ends; nil for
// nothing.
func (p *Play) output(l *line, run *launch) []byte {
	n := 0
	for i := range l.parts {
		n += len(l.parts[i].b) + 1
	}
	b := make([]byte, 0, n+n/16) // some values of this play are longer
	for i := range l.parts {
		pt := &l.parts[i]
		if l.w.Dir == fixtures.Err {
			b = append(p.splice(b, pt.b, pt.slots, nil, run, false), '\n')
		} else if id, ok := p.gets(pt, run); ok {
			b = append(p.splice(b, pt.b, pt.slots, id, run, true), '\n')
		}
	}
	return b
}

// step plays the line that peek has found.
func (p *Play) step() StepResult {
	l := &p.s.lines[p.pos]
	run := p.launches[l.w.Process]
	done := StepResult{Line: l.w}
	p.at = p.next()
	switch l.w.Dir {
	case fixtures.Out:
		b := p.output(l, run)
		p.heed(l, run)
		if p.o.NoLastNewline && p.isLast() {
			b = b[:len(b)-1]
		}
		run.stdout.write(b)
		done.Wrote = true
	case fixtures.Err:
		b := p.output(l, run)
		run.stderr.write(b)
		done.Wrote = true
	case fixtures.In:
		if l.claimed != nil {
			run.mode = cmp.Or(l.by.mode, run.mode)
		}
	case fixtures.EOF:
		run.shutPlayed = true
	case Hangup:
		run.stdout.CloseWrite()
	case CloseStdin:
		run.deaf = true
	case fixtures.Exit:
		run.end(proc.Exit{Code: l.w.Code, Signal: proc.Signal(l.w.Signal)})
	}
	p.pos++
	p.change.Broadcast()
	return done
}

// heed keeps what the runtime asked, and whether a turn runs.
func (p *Play) heed(l *line, run *launch) {
	for i := range l.parts {
		s := &l.parts[i].said
		if s.asks != nil {
			run.asks[p.translate(string(s.asks), nil)] = s.input
			run.asked[p.translate(string(s.asks), nil)] = asking{s.asked, s.tool}
			run.requests = append(run.requests, request{id: p.translate(string(s.asks), nil), line: l.w, thread: s.thread, call: s.call})
		}
		if s.drops != nil {
			run.drop(p.translate(string(s.drops), nil), l.w)
		}
		if s.ends != "" {
			run.takeBack(l.w, func(r *request) bool { return r.call == s.ends })
		}
		if s.turn < 0 && s.thread != "" {
			run.takeBack(l.w, func(r *request) bool { return r.thread == s.thread })
		}
		if s.thread == "" || s.thread == p.s.processes[run.n].session {
			run.turns += s.turn
		}
	}
}

// isLast reports whether the process writes nothing after the line that the play
// stands at, whatever its client does.
func (p *Play) isLast() bool {
	n := p.s.lines[p.pos].w.Process
	for i := p.pos + 1; i < len(p.s.lines); i++ {
		if l := &p.s.lines[i]; l.w.Process == n && l.w.Dir != fixtures.Err && l.w.Dir != fixtures.Signal {
			return l.w.Dir == fixtures.Exit
		}
	}
	return true
}

// run plays by itself until the end or Close.
func (p *Play) run() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for !p.closed && p.pos < len(p.s.lines) && !p.peek() {
			p.change.Wait()
		}
		if p.closed || p.pos >= len(p.s.lines) {
			return
		}
		if wait := p.pause(); wait > 0 {
			p.mu.Unlock()
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-p.ended:
				t.Stop()
			}
			p.mu.Lock()
			if !p.peek() { // the process was killed meanwhile
				continue
			}
		}
		p.step()
	}
}

// pause is how long the runtime took for the next line.
func (p *Play) pause() time.Duration {
	switch p.s.lines[p.pos].w.Dir {
	case fixtures.Out, fixtures.Err, fixtures.Exit:
	default:
		return 0 // what the recording's client took is not the runtime's time
	}
	if p.o.Speed <= 0 {
		return 0
	}
	return time.Duration(float64(p.next()-p.at) / p.o.Speed)
}

// unasked reports whether the recorded answer is one to a hook that this client
// does not have.
func (p *Play) unasked(l *line, run *launch) bool {
	for i := p.pos - 1; i >= 0; i-- {
		for k := range p.s.lines[i].parts {
			s := &p.s.lines[i].parts[k].said
			if s.asks != nil && string(s.asks) == string(l.act.id) {
				return s.hook != "" && !p.s.dialect.wants(s, run)
			}
		}
	}
	return false
}
