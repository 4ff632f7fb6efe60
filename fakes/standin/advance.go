package standin

import (
	"cmp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Step plays the next line that may be played now. It returns false if there is
// none: the play waits at a barrier, for a launch or for the subject to read, or
// has ended (see State). It never blocks.
func (p *Play) Step() (StepResult, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.o.Manual || !p.seekPlayable() {
		return StepResult{}, false
	}
	return p.playLine(), true
}

// Release lets the play go on after a hold, if the case records that its client released it.
func (p *Play) Release(hold string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released[hold] = true
	p.change.Broadcast()
}

// Next returns the recorded time of the next line that may be played.
func (p *Play) Next() (at time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.seekPlayable() {
		return 0, false
	}
	return p.nextTime(), true
}

// Ready waits until a line may be played. It returns false if the play was closed
// first.
func (p *Play) Ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && !p.seekPlayable() {
		p.change.Wait()
	}
	return !p.closed
}

// nextTime never goes back: a fault and moveSends may change the order of lines.
func (p *Play) nextTime() time.Duration { return max(p.at, p.s.lines[p.pos].w.T) }

// State returns where the play is.
func (p *Play) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	var s State
	ready := p.seekPlayable()
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
	case l.w.Dir == fixtures.In || l.w.Dir == fixtures.EOF || l.w.Dir == fixtures.Signal || l.w.Dir == fixtures.Release:
		s.Barrier = p.barrier(l)
	default:
		s.Blocked = true
	}
	return s
}

func (p *Play) barrier(l *line) *Barrier {
	b := &Barrier{Kind: l.step.Kind, Method: l.step.Method, Line: l.w, Text: l.step.Step.Text}
	if l.step.Kind == KindAnswer {
		b.Request = wire.Unquote(jsontext.Value(p.translate(string(l.step.id), nil)))
		b.Answer, b.Value = l.step.Step.Answer.Word, l.step.Step.Answer.Value
	}
	return b
}

// seekPlayable moves to the next line that this client gets or that is a barrier,
// and reports whether it may be played now.
func (p *Play) seekPlayable() bool {
	for !p.closed && p.pos < len(p.s.lines) {
		l := &p.s.lines[p.pos]
		run := p.launchOf(l.w.Process)
		switch {
		case run == nil:
			return false
		case run.ended:
			p.pos++
			continue
		case run.shut && !run.shutPlayed && l.w.Dir != fixtures.EOF && p.s.rt.Process.EndsAtEOF && p.skipToExit(l.w.Process):
			continue
		}
		switch l.w.Dir {
		case fixtures.In:
			switch {
			case l.claimed != nil:
				return true
			case l.step.Kind == KindAnswer && p.o.Fault == nil && p.isUnasked(l, run):
				p.pos++
			case !l.step.halts() && !l.invalid || l.step.optional && p.hasLaterStep(l.w.Process):
				p.pos++
			case run.shut && p.skipToExit(l.w.Process):
			default:
				return false
			}
		case fixtures.EOF:
			return run.shut
		case fixtures.Out, fixtures.Err:
			if run.isFull() {
				return false
			}
			if p.hasOutput(l, run) {
				return true
			}
			p.pos++
		case fixtures.Exit:
			return !run.isFull()
		case fixtures.Signal:
			return l.w.Outside || !p.s.rt.IsStop(l.w.Signal)
		case fixtures.Release:
			if p.o.Holds && !p.released[l.w.Hold] && !p.hasLaterStep(l.w.Process) {
				return false
			}
			p.pos++
		default:
			return true
		}
	}
	return false
}

// hasLaterStep reports whether the subject has done a step of the process that
// comes after the line in hand.
func (p *Play) hasLaterStep(process int) bool {
	if run := p.launchOf(process); run.shut || run.pastCut {
		return true
	}
	for i := p.pos + 1; i < len(p.s.lines); i++ {
		if l := &p.s.lines[i]; l.w.Process == process && l.claimed != nil && l.step.halts() {
			return true
		}
	}
	return false
}

// skipToExit moves to the recorded end of the process, because its client closed
// stdin before the recording's client did. Without a recorded end it hangs.
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

// hasOutput reports whether a line writes anything for this client.
func (p *Play) hasOutput(l *line, run *launch) bool {
	for i := range l.parts {
		if l.w.Dir == fixtures.Err {
			return true
		}
		if _, ok := p.wants(&l.parts[i], run); ok {
			return true
		}
	}
	return false
}

// output is what a line writes for this client, with the line ends. What is not read of a line
// is a piece of its own, which is not copied.
func (p *Play) output(l *line, run *launch) (pieces [][]byte) {
	n := 0
	for i := range l.parts {
		n += readLength(l.parts[i].b) + 1
	}
	b := make([]byte, 0, n+n/16) // some values of this play are longer
	for i := range l.parts {
		pt := &l.parts[i]
		id, wanted := jsontext.Value(nil), true
		if l.w.Dir != fixtures.Err {
			id, wanted = p.wants(pt, run)
		}
		if !wanted {
			continue
		}
		read := readLength(pt.b)
		b = p.splice(b, pt.b[:read], pt.slots, id, run, l.w.Dir != fixtures.Err)
		if read < len(pt.b) {
			pieces = append(pieces, b, pt.b[read:])
			b = nil
		}
		b = append(b, '\n')
	}
	return append(pieces, b)
}

// playLine plays the line that seekPlayable has found.
func (p *Play) playLine() StepResult {
	l := &p.s.lines[p.pos]
	run := p.launches[l.w.Process]
	result := StepResult{Line: l.w}
	p.at = p.nextTime()
	switch l.w.Dir {
	case fixtures.Out:
		pieces := p.output(l, run)
		p.trackRequests(l, run)
		if last := &pieces[len(pieces)-1]; p.o.NoLastNewline && p.isLastOutput() {
			*last = (*last)[:len(*last)-1]
		}
		for _, b := range pieces {
			run.stdout.writeOut(b)
		}
		result.Wrote = true
	case fixtures.Err:
		for _, b := range p.output(l, run) {
			run.stderr.writeOut(b)
		}
		result.Wrote = true
	case fixtures.In:
		if l.claimed != nil {
			run.mode = cmp.Or(l.by.Step.Mode, run.mode)
		}
	case fixtures.EOF:
		run.shutPlayed = true
	case Hangup:
		run.stdout.CloseWrite()
	case CloseStdin:
		run.stdinClosed = true
	case fixtures.Exit:
		run.endProcess(proc.Exit{Code: l.w.Code, Signal: proc.Signal(l.w.Signal)})
	}
	p.pos++
	p.change.Broadcast()
	return result
}

// isLastOutput reports whether the process writes nothing after the line in hand,
// whatever its client does. A client that stops a turn by a signal may wait for the line.
func (p *Play) isLastOutput() bool {
	n := p.s.lines[p.pos].w.Process
	for i := p.pos + 1; i < len(p.s.lines); i++ {
		l := &p.s.lines[i]
		if l.w.Process != n || l.w.Dir == fixtures.Err || l.w.Dir == fixtures.Signal && (l.w.Outside || !p.s.rt.IsStop(l.w.Signal)) {
			continue
		}
		return l.w.Dir == fixtures.Exit
	}
	return true
}

// playAll plays all lines, until the end or Close.
func (p *Play) playAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for !p.closed && p.pos < len(p.s.lines) && !p.seekPlayable() {
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
			case <-p.done:
				t.Stop()
			}
			p.mu.Lock()
			if !p.seekPlayable() { // the process was killed meanwhile
				continue
			}
		}
		p.playLine()
	}
}

// pause is how long the runtime took for the next line. The time that the
// recording's client took is left out.
func (p *Play) pause() time.Duration {
	switch p.s.lines[p.pos].w.Dir {
	case fixtures.Out, fixtures.Err, fixtures.Exit:
	default:
		return 0
	}
	if p.o.Speed <= 0 {
		return 0
	}
	return time.Duration(float64(p.nextTime()-p.at) / p.o.Speed)
}

// isUnasked reports whether the recorded answer is one to a hook that this client
// does not have.
func (p *Play) isUnasked(l *line, run *launch) bool {
	for i := p.pos - 1; i >= 0; i-- {
		for k := range p.s.lines[i].parts {
			x := p.s.lines[i].parts[k].line
			if x == nil {
				continue // of stderr
			}
			if id := requestOf(x); id != nil && string(id) == string(l.step.id) {
				return x.Asked.Hook != "" && !run.wants(x)
			}
		}
	}
	return false
}
