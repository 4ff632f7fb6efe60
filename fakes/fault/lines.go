package fault

import (
	"sync"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// lines is a case and what its lines are.
type lines struct {
	runtime  string
	version  string
	wire     []fixtures.WireLine
	rt       *wire.Runtime
	read     []wire.Line // parallel to wire
	sessions []string    // see sessionIDs
	turns    []string    // see turnIDs
}

// recent keeps the cases that were read last: all operators, and all places of each,
// need the same lines.
var recent struct {
	sync.Mutex
	cases [16]*lines
	next  int
}

// linesOf reads a case.
func linesOf(c *fixtures.Case) *lines {
	recent.Lock()
	defer recent.Unlock()
	for _, l := range recent.cases {
		if l != nil && l.isOf(c) {
			return l
		}
	}
	l := &lines{runtime: c.Runtime, version: c.Version, wire: c.Wire, rt: runtimes.Find(c.Runtime), read: c.Lines()}
	if l.rt == nil {
		l.rt, l.read = &wire.Runtime{Name: c.Runtime}, make([]wire.Line, len(c.Wire))
	}
	l.sessions = l.sessionIDs()
	l.turns = l.turnIDs()
	recent.cases[recent.next] = l
	recent.next = (recent.next + 1) % len(recent.cases)
	return l
}

// isOf reports whether these are the lines of a case: they are compared by where
// they are in memory.
func (c *lines) isOf(x *fixtures.Case) bool {
	return len(c.wire) > 0 && len(c.wire) == len(x.Wire) && &c.wire[0] == &x.Wire[0] && c.runtime == x.Runtime
}

// outputs are the indexes of the lines of stdout.
func (c *lines) outputs() []int {
	var out []int
	for i, w := range c.wire {
		if w.Dir == fixtures.Out {
			out = append(out, i)
		}
	}
	return out
}

// outputsWhere are the lines of stdout for which keep holds.
func (c *lines) outputsWhere(keep func(i int) bool) []int {
	var out []int
	for _, i := range c.outputs() {
		if keep(i) {
			out = append(out, i)
		}
	}
	return out
}

func allOutputs(c *lines, _ bool) []int { return c.outputs() }

// duringTurns are the lines of stdout at which a request or an item of a turn may
// come: if lines name their turn, those that come while a turn of the session runs.
func duringTurns(c *lines, _ bool) []int {
	return c.outputsWhere(func(i int) bool { return !c.rt.TurnIDs || c.turns[i] != "" })
}

func (c *lines) isText(i int) bool {
	return c.read[i].Piece.Kind == wire.Text && c.read[i].Piece.Text != ""
}

func (c *lines) place(i int) wire.Place {
	return wire.Place{Index: i, Session: c.sessions[i], Turn: c.turns[i]}
}

// thread identifies a session or thread in a case.
type thread struct {
	process int
	id      string
}

// threadOf is the session or thread that a line names.
func (c *lines) threadOf(i int) thread { return thread{c.wire[i].Process, c.read[i].Session} }

// ofSession is the session of the process, at a line.
func (c *lines) ofSession(i int) thread { return thread{c.wire[i].Process, c.sessions[i]} }

// sessionIDs are, for each line of stdout, the recorded id of the session or thread
// of its process. If a process is one session, it is the last one that was named
// until then, else the first that was opened: others are sub-agents or other threads. Lines before the first id have that one.
func (c *lines) sessionIDs() []string {
	out := make([]string, len(c.wire))
	type process struct {
		last    string
		waiting []int // lines before the first id
	}
	processes := map[int]*process{}
	for _, i := range c.outputs() {
		n := c.wire[i].Process
		p := processes[n]
		if p == nil {
			p = &process{}
			processes[n] = p
		}
		switch l := &c.read[i]; {
		case !c.rt.Threads && l.Session != "":
			p.last = l.Session
		case c.rt.Threads && p.last == "":
			p.last = l.Opened
		}
		if p.waiting = append(p.waiting, i); p.last == "" {
			continue
		}
		for _, k := range p.waiting {
			out[k] = p.last
		}
		p.waiting = p.waiting[:0]
	}
	return out
}

// turnIDs are, for each line of stdout, the recorded id of its session's turn that
// runs then, or "".
func (c *lines) turnIDs() []string {
	out := make([]string, len(c.wire))
	running := map[thread]string{}
	if !c.rt.TurnIDs {
		return out
	}
	for _, i := range c.outputs() {
		running[c.ofSession(i)] = ""
	}
	for _, i := range c.outputs() {
		l, t := &c.read[i], c.threadOf(i)
		if id, known := running[t]; known {
			switch {
			case l.Kind == wire.TurnStart && id == "":
				running[t] = l.Turn
			case l.Kind == wire.TurnEnd:
				running[t] = ""
			case id != "" && l.Work:
				running[t] = l.Turn // older versions begin the next turn within the one that goes on
			}
		}
		out[i] = running[c.ofSession(i)]
	}
	return out
}

// at makes a fault of the wire at one line. change gets the lines of the process and
// the index of that line among them.
func at(c *lines, place int, f Fault, change func(lines []fixtures.WireLine, i int) []fixtures.WireLine) Fault {
	w := c.wire[place]
	f.Line = w.Line
	i := 0
	for _, before := range c.wire[:place] {
		if before.Process == w.Process {
			i++
		}
	}
	f.Wire = func(process int, lines []fixtures.WireLine) []fixtures.WireLine {
		if process != w.Process {
			return lines
		}
		return change(lines, i)
	}
	return f
}

// addLine is the apply function of an operator that adds a line of stdout after its
// place.
func addLine(f Fault, text func(c *lines, place int) []byte) func(c *lines, place int) Fault {
	return func(c *lines, place int) Fault {
		b := text(c, place)
		return at(c, place, f, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
			w := lines[i]
			return insertLine(lines, i+1, fixtures.WireLine{T: w.T, Process: w.Process, Dir: fixtures.Out, Bytes: b})
		})
	}
}

// cutAfter is the apply function of an operator that leaves out all lines after its
// place.
func cutAfter(f Fault) func(c *lines, place int) Fault {
	return func(c *lines, place int) Fault {
		return at(c, place, f, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
			return append([]fixtures.WireLine(nil), lines[:i+1]...)
		})
	}
}

// insertLine is slices.Insert for lines that must not be modified.
func insertLine(lines []fixtures.WireLine, i int, w fixtures.WireLine) []fixtures.WireLine {
	out := make([]fixtures.WireLine, 0, len(lines)+1)
	return append(append(append(out, lines[:i]...), w), lines[i:]...)
}
