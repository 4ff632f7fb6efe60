package standin

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
)

// script is a case made ready to be played.
type script struct {
	dialect dialect
	version string
	lines   []line
	// chosen are the UUIDs that the recording's client made up; all others were
	// minted by the runtime.
	chosen     map[string]bool
	background map[string]bool // tool calls whose sub-agent runs in the background
	words      []string        // that the recording's client told the model with a denial
	processes  []process       // by number, from 1
}

// process is what a script knows of one of its processes.
type process struct {
	hooks   hooks // of its client
	spawn   []string
	session string // the id of its session, or of its thread
	turns   int    // that run at the line in hand
	sent    bool   // a message has come since the last turn ended
	stopped bool   // and a stop
	exit    int    // the index of its exit line, or -1
}

// line is a line of the script.
type line struct {
	w       *fixtures.WireLine
	act     act    // of in
	parts   []part // of out and err: more than one where lines are glued
	claimed *ClientAction
	by      act      // of claimed
	odd     bool     // of in: no client may write it; see odd.go
	chosen  settings // of in: what its client has chosen by then
}

// part is one line of the runtime.
type part struct {
	b     []byte
	said  said
	reply int // the index of the request that it replies to, or -1
	slots []slot
}

// fewWords is how long words must be to be looked for: shorter ones may stand in
// a line by chance.
const fewWords = 8

// chosenID stands before a message id that a client of codex chose. Within a
// string the quotes would be escaped: this is a member.
const chosenID = `"clientId":`

func dialectOf(runtime string) (dialect, error) {
	switch runtime {
	case "codex":
		return codexDialect{}, nil
	case "codexexec":
		return codexExecDialect{}, nil
	case "claude":
		return claudeDialect{}, nil
	}
	return nil, fmt.Errorf("no stand-in for runtime %q, want codex, codexexec or claude", runtime)
}

// compile reads the lines of a case. The lines are the case's own or harmed;
// ready, if there is one, knows what the case's own mean.
func compile(c *fixtures.Case, wire []fixtures.WireLine, ready *Prepared) (*script, error) {
	d, err := dialectOf(c.Runtime)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	s := &script{dialect: d, version: c.Version, chosen: map[string]bool{}, background: map[string]bool{}, processes: make([]process, 1)}
	minted := map[string]bool{}
	var names []string // message ids that are no UUIDs
	s.lines = make([]line, 0, len(wire))
	read := make([][]reading, 0, len(wire))
	for i := range wire {
		w := &wire[i]
		l, rs := line{w: w}, ready.of(d, w)
		for len(s.processes) <= w.Process {
			s.processes = append(s.processes, process{exit: -1})
		}
		p := &s.processes[w.Process]
		switch w.Dir {
		case fixtures.Spawn:
			p.spawn = w.Argv
			for _, a := range w.Argv {
				s.meet([]byte(a), uuids([]byte(a)), minted, true)
			}
		case fixtures.In:
			l.act = rs[0].act
			if l.act.hooks != nil {
				p.hooks = l.act.hooks
			}
			l.act.free = p.elsewhere(&l.act) || p.idleStop(&l.act)
			s.meet(w.Bytes, rs[0].uuids, minted, true)
			if len(l.act.words) >= fewWords {
				s.words = append(s.words, l.act.words)
			}
			if id := l.act.chose; id != "" && !uuidAt([]byte(id), 0) && !slices.Contains(names, id) {
				names = append(names, id)
			}
		case fixtures.EOF:
			l.act = act{kind: KindClose}
		case fixtures.Signal:
			l.act = act{kind: KindSignal, method: w.Signal}
		case fixtures.Out:
			l.parts = make([]part, 0, len(rs))
			for k := range rs {
				s.meet(rs[k].b, rs[k].uuids, minted, false)
				pt := s.part(&rs[k], len(s.lines), w.Process)
				s.learn(p, &pt, &rs[k].facts)
				p.count(&pt.said)
				l.parts = append(l.parts, pt)
			}
		case fixtures.Err:
			l.parts = []part{{b: w.Bytes, reply: -1, slots: rs[0].slots}}
		case fixtures.Exit:
			p.exit = i
		}
		s.lines, read = append(s.lines, l), append(read, rs)
	}
	s.late()
	s.mark()
	s.settle(read)
	s.choose()
	modes := make([]string, len(s.processes))
	for i := range s.lines {
		l := &s.lines[i]
		switch mode := &modes[l.w.Process]; l.w.Dir {
		case fixtures.Spawn:
			*mode = d.mode(l.w.Argv)
		case fixtures.In:
			*mode = cmp.Or(l.act.mode, *mode)
		case fixtures.Out:
			for k := range l.parts {
				s.slots(&l.parts[k], &read[i][k], names, *mode)
			}
		}
	}
	return s, nil
}

// meet notes who made up a UUID: the side that said it first.
func (s *script) meet(b []byte, uuids []span, minted map[string]bool, client bool) {
	for _, u := range uuids {
		id := string(b[u.from:u.to])
		switch {
		case minted[id] || s.chosen[id]:
		case client:
			s.chosen[id] = true
		default:
			minted[id] = true
		}
	}
}

// part reads one line of the runtime, the at-th of the script.
func (s *script) part(r *reading, at, process int) part {
	p := part{b: r.b, said: r.said, reply: -1}
	if p.said.reply == nil {
		return p
	}
	for i := at - 1; i >= 0; i-- {
		l := &s.lines[i]
		if l.w.Process == process && l.w.Dir == fixtures.In && bytes.Equal(l.act.id, p.said.reply) {
			if p.reply = i; l.act.kind == KindAnswer {
				p.reply, p.said.label = -1, replayed // an echo of the client's own reply
			}
			break
		}
	}
	return p
}

// learn keeps what later lines are judged by.
func (s *script) learn(p *process, pt *part, f *facts) {
	for _, id := range f.background {
		s.background[id] = true
	}
	id := f.session
	if pt.reply >= 0 && s.lines[pt.reply].act.kind == KindOpen {
		id = f.opened
	}
	if p.session == "" {
		p.session = id
	}
}

// late finds the answers that came when their question was not open any more:
// the runtime took it back, or the turn had ended. A client need not give them.
func (s *script) late() {
	type question struct {
		process int
		id      string
	}
	open := map[question]string{} // with the thread that asks
	for i := range s.lines {
		l := &s.lines[i]
		if l.w.Dir == fixtures.In && l.act.kind == KindAnswer {
			if _, ok := open[question{l.w.Process, string(l.act.id)}]; !ok {
				l.act.soft = true
			}
		}
		for k := range l.parts {
			switch x := &l.parts[k].said; {
			case x.asks != nil:
				open[question{l.w.Process, string(x.asks)}] = x.thread
			case x.drops != nil:
				delete(open, question{l.w.Process, string(x.drops)})
			case x.turn < 0:
				maps.DeleteFunc(open, func(q question, thread string) bool { return q.process == l.w.Process && thread == x.thread })
			}
		}
	}
}

// count keeps whether a turn of the session runs.
func (p *process) count(s *said) {
	if s.turn != 0 && (s.thread == "" || s.thread == p.session) {
		p.turns += s.turn
		p.sent, p.stopped = p.sent && s.turn > 0, p.stopped && s.turn > 0
	}
}

// elsewhere reports whether the act is about another thread that the
// recording's client opened beside the session's: its lines come, asked for or
// not.
func (p *process) elsewhere(a *act) bool {
	if p.session == "" {
		return false
	}
	return a.kind == KindOpen && a.method == "thread/start" ||
		a.kind == KindSend && a.thread != "" && a.thread != p.session
}

// idleStop reports whether the act stops a turn where none runs, or one that is
// being stopped: a client that knows it writes nothing.
func (p *process) idleStop(a *act) bool {
	if a.kind == KindSend {
		p.sent = true
	}
	if a.kind != KindStop || a.thread != "" && a.thread != p.session {
		return false
	}
	again := p.stopped
	p.stopped = true
	return again || p.turns <= 0 && !p.sent
}

// settle moves a codex client's turn/start behind lines that it did not cause.
// The recording's client did not wait for what follows the reply to its
// thread/start; another one may, and all that a turn/start causes comes after
// its reply.
func (s *script) settle(read [][]reading) {
	if _, codex := s.dialect.(codexDialect); !codex {
		return
	}
	for i := 0; i < len(s.lines); i++ {
		if l := &s.lines[i]; l.w.Dir != fixtures.In || l.act.kind != KindSend {
			continue
		}
		end := i + 1
		for end < len(s.lines) && s.lines[end].causeless(i) {
			end++
		}
		if end == i+1 || end == len(s.lines) || !s.lines[end].repliesTo(i) {
			continue
		}
		moved := s.lines[i]
		copy(s.lines[i:], s.lines[i+1:end])
		s.lines[end-1] = moved
		rs := read[i]
		copy(read[i:], read[i+1:end])
		read[end-1] = rs
		s.renumber(i, end)
		i = end - 1
	}
}

// renumber mends the references to lines from..to, of which the first has
// become the last.
func (s *script) renumber(from, to int) {
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

func (l *line) repliesTo(i int) bool {
	return slices.ContainsFunc(l.parts, func(p part) bool { return p.reply == i })
}

func (l *line) causeless(i int) bool {
	return (l.w.Dir == fixtures.Out || l.w.Dir == fixtures.Err) && !l.repliesTo(i)
}
