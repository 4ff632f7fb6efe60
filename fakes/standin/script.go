package standin

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// script is a case that is ready to be played.
type script struct {
	rt      *wire.Runtime
	version string
	lines   []line
	// chosen are the UUIDs that the recording's client made. The runtime minted
	// all others.
	chosen     map[string]bool
	background map[string]bool // tool calls whose sub-agent runs in the background
	reasons    []string        // that the recording's client gave to the model with a denial
	processes  []process       // by number, from 1
}

// process is what a script has found out about one of its processes.
type process struct {
	hooks   map[string][]string // of its client
	argv    []string            // of its client
	launch  wire.Launch
	session string // the id of its session, or of its thread
	turns   int    // that run at the line in hand
	sent    bool   // a message has come since the last turn ended
	stopped bool   // and a stop
	exit    int    // the index of its exit line, or -1
}

// line is a line of the script.
type line struct {
	w       *fixtures.WireLine
	step    step   // of in
	parts   []part // of out and err: more than one if lines are glued
	claimed *ClientAction
	by      step          // of claimed
	invalid bool          // of in: a client must not write it; see invalid.go
	chosen  wire.Settings // of in: what its client has chosen by then
}

// minReason is the length from which the reason of a denial is looked for in lines.
// A shorter one may occur in a line by chance.
const minReason = 8

func runtimeOf(c *fixtures.Case) (*wire.Runtime, error) {
	rt, err := runtimes.Get(c.Runtime)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return rt, nil
}

// compile reads the lines of a case, or what a fault made of them. prepared holds
// lines that were read before; it may be nil.
func compile(c *fixtures.Case, lines []fixtures.WireLine, prepared *Prepared) (*script, error) {
	rt, err := runtimeOf(c)
	if err != nil {
		return nil, err
	}
	s := &script{rt: rt, version: c.Version, chosen: map[string]bool{}, background: map[string]bool{}, processes: make([]process, 1)}
	minted := map[string]bool{}
	var names []string // message ids that are no UUIDs
	s.lines = make([]line, 0, len(lines))
	read := make([][]reading, 0, len(lines))
	for i := range lines {
		w := &lines[i]
		l, rs := line{w: w}, prepared.readingsOf(rt, w)
		for len(s.processes) <= w.Process {
			s.processes = append(s.processes, process{exit: -1})
		}
		p := &s.processes[w.Process]
		switch w.Dir {
		case fixtures.Spawn:
			p.argv, p.launch = w.Argv, rt.Launched(c.Version, w.Argv, nil)
			for _, a := range w.Argv {
				s.noteUUIDs([]byte(a), uuids([]byte(a)), minted, true)
			}
		case fixtures.In:
			l.step = rs[0].step
			if l.step.Step.Hooks != nil {
				p.hooks = l.step.Step.Hooks
			}
			l.step.free = p.isOtherThread(&l.step) || p.isIdleStop(rt, &l.step)
			s.noteUUIDs(w.Bytes, rs[0].uuids, minted, true)
			if len(l.step.Step.Reason) >= minReason {
				s.reasons = append(s.reasons, l.step.Step.Reason)
			}
			if id := l.step.Step.MessageID; id != "" && !uuidAt([]byte(id), 0) && !slices.Contains(names, id) {
				names = append(names, id)
			}
		case fixtures.EOF:
			l.step = processStep(KindClose, "")
		case fixtures.Signal:
			l.step = processStep(KindSignal, w.Signal)
		case fixtures.Release:
			l.step = processStep(KindRelease, w.Hold)
		case fixtures.Out:
			l.parts = make([]part, 0, len(rs))
			for k := range rs {
				s.noteUUIDs(rs[k].b, rs[k].uuids, minted, false)
				pt := s.newPart(&rs[k], len(s.lines), w.Process)
				s.noteSession(p, &pt, w.Line == 0)
				p.countTurns(s, pt.line)
				l.parts = append(l.parts, pt)
			}
		case fixtures.Err:
			l.parts = []part{{b: w.Bytes, reply: -1, slots: rs[0].slots}}
		case fixtures.Exit:
			p.exit = i
		}
		s.lines, read = append(s.lines, l), append(read, rs)
	}
	s.markLateAnswers()
	s.markRefusedSettings(c.Wire, prepared)
	s.markInvalid()
	s.moveSends(read)
	s.collectSettings()
	modes := make([]string, len(s.processes))
	for i := range s.lines {
		l := &s.lines[i]
		switch mode := &modes[l.w.Process]; l.w.Dir {
		case fixtures.Spawn:
			*mode = s.processes[l.w.Process].launch.Settings.Ask
		case fixtures.In:
			*mode = cmp.Or(l.step.Step.Mode, *mode)
		case fixtures.Out:
			for k := range l.parts {
				s.addSlots(&l.parts[k], &read[i][k], names, *mode)
			}
		}
	}
	return s, nil
}

// noteUUIDs records who made each UUID: the side that wrote it first.
func (s *script) noteUUIDs(b []byte, uuids []wire.Span, minted map[string]bool, client bool) {
	for _, u := range uuids {
		id := string(b[u.From:u.To])
		switch {
		case minted[id] || s.chosen[id]:
		case client:
			s.chosen[id] = true
		default:
			minted[id] = true
		}
	}
}

// newPart finds the request that a line answers. at is the index of the line.
func (s *script) newPart(r *reading, at, process int) part {
	p := part{b: r.b, line: r.line, reply: -1}
	id := replyTo(r.line)
	if id == nil {
		return p
	}
	for i := at - 1; i >= 0; i-- {
		l := &s.lines[i]
		if l.w.Process != process || l.w.Dir != fixtures.In || l.step.Line == nil || !bytes.Equal(l.step.id, id) && !bytes.Equal(l.step.ID, id) {
			continue
		}
		if p.reply = i; l.step.Kind == KindAnswer && l.step.ID == nil { // the runtime repeats the client's own answer
			echo := *r.line
			echo.Label = wire.Replayed
			p.reply, p.line = -1, &echo
		}
		break
	}
	return p
}

// noteSession records what later lines are judged by. A request that a fault added may
// name the session before it is opened.
func (s *script) noteSession(p *process, pt *part, added bool) {
	for _, id := range pt.line.Background {
		s.background[id] = true
	}
	if p.session != "" || added {
		return
	}
	switch {
	case !s.rt.Threads:
		p.session = pt.line.Session
	case pt.reply >= 0 && s.lines[pt.reply].step.Kind == KindOpen:
		p.session = pt.line.Opened
	}
}

// markLateAnswers finds the answers that came after the runtime had taken the
// question back or the turn had ended. A client need not give them.
func (s *script) markLateAnswers() {
	type question struct {
		process int
		id      string
	}
	open := map[question]string{} // with its owner
	for i := range s.lines {
		l := &s.lines[i]
		if l.w.Dir == fixtures.In && l.step.Kind == KindAnswer {
			if _, ok := open[question{l.w.Process, string(l.step.id)}]; !ok {
				l.step.optional = true
			}
		}
		for k := range l.parts {
			x := l.parts[k].line
			if x == nil {
				continue // of stderr
			}
			switch asked, withdrawn := requestOf(x), withdraws(x); {
			case asked != nil:
				open[question{l.w.Process, string(asked)}] = s.ownerOf(x)
			case withdrawn != nil:
				delete(open, question{l.w.Process, string(withdrawn)})
			case x.Kind == wire.TurnEnd:
				maps.DeleteFunc(open, func(q question, owner string) bool { return q.process == l.w.Process && owner == s.ownerOf(x) })
			}
		}
	}
}

// markRefusedSettings finds the settings that the runtime refused in the recording. A
// client that checks them itself does not send them. A fault may have changed the reply.
func (s *script) markRefusedSettings(recorded []fixtures.WireLine, prepared *Prepared) {
	for i := range s.lines {
		l := &s.lines[i]
		if l.w.Dir != fixtures.In || l.step.Kind != KindSet || l.step.id == nil {
			continue
		}
		l.step.optional = slices.ContainsFunc(recorded, func(w fixtures.WireLine) bool {
			return w.Dir == fixtures.Out && w.Process == l.w.Process && w.Line > l.w.Line &&
				slices.ContainsFunc(prepared.readingsOf(s.rt, &w), func(r reading) bool { return r.line.Failed && bytes.Equal(replyTo(r.line), l.step.id) })
		})
	}
}

// countTurns records whether a turn of the session runs.
func (p *process) countTurns(s *script, l *wire.Line) {
	change, owner := turnChange(l), s.ownerOf(l)
	if change != 0 && (owner == "" || owner == p.session) {
		p.turns = min(1, max(0, p.turns+change))
		p.sent, p.stopped = p.sent && change > 0, p.stopped && change > 0
	}
}

// isOtherThread reports whether the step is about a thread that the recording's
// client opened in addition to the session. Its lines are played whether or not this
// client opens one.
func (p *process) isOtherThread(s *step) bool {
	if p.session == "" {
		return false
	}
	return s.Kind == KindOpen && s.Step.NewSession || s.Kind == KindSend && s.Session != "" && s.Session != p.session
}

// isIdleStop reports whether the step stops a turn while none runs, or one that is
// being stopped. A client that keeps track writes nothing then.
func (p *process) isIdleStop(rt *wire.Runtime, s *step) bool {
	if s.Kind == KindSend {
		p.sent = true
		p.stopped = p.stopped && !rt.ClientRunsTurns // no line shows that the stopped turn has ended
	}
	if s.Kind != KindStop || s.Session != "" && s.Session != p.session {
		return false
	}
	again := p.stopped
	p.stopped = true
	return again || p.turns <= 0 && !p.sent
}

// moveSends moves a message behind the lines that it did not cause, if everything
// that a message causes follows the reply to it. The recording's client may not
// have waited for those lines; another one may.
func (s *script) moveSends(read [][]reading) {
	for i := 0; i < len(s.lines); i++ {
		if l := &s.lines[i]; l.w.Dir != fixtures.In || l.step.Kind != KindSend || !l.step.Step.RepliedFirst {
			continue
		}
		end := i + 1
		for end < len(s.lines) && s.lines[end].isOutputBeforeReply(i) {
			end++
		}
		if end == i+1 || end == len(s.lines) || !s.lines[end].answers(i) {
			continue
		}
		moved := s.lines[i]
		copy(s.lines[i:], s.lines[i+1:end])
		s.lines[end-1] = moved
		rs := read[i]
		copy(read[i:], read[i+1:end])
		read[end-1] = rs
		s.renumberReplies(i, end)
		i = end - 1
	}
}

// renumberReplies corrects the references to lines from..to, of which the first
// has become the last.
func (s *script) renumberReplies(from, to int) {
	for i := range s.lines {
		for k := range s.lines[i].parts {
			switch r := &s.lines[i].parts[k].reply; {
			case *r == from:
				*r = to - 1
			case *r > from && *r < to:
				*r--
			}
		}
	}
}

func (l *line) answers(i int) bool {
	return slices.ContainsFunc(l.parts, func(p part) bool { return p.reply == i })
}

func (l *line) isOutputBeforeReply(i int) bool {
	return (l.w.Dir == fixtures.Out || l.w.Dir == fixtures.Err) && !l.answers(i)
}
