package runindex

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Line is a line of the wire that was played, as the harness reads it. It is zero
// if the runtime did not write it.
type Line struct {
	wire.Line
	// Main reports that it is of the main agent's thread, Other that it is of a
	// thread that was opened later. On a runtime whose process is one session every
	// line is Main.
	Main, Other bool
}

// Thinking returns the reasoning that the line adds.
func (l *Line) Thinking() string {
	if l.Piece.Kind == wire.Thinking {
		return l.Piece.Text
	}
	return ""
}

// Text returns the text that the line adds.
func (l *Line) Text() string {
	if l.Piece.Kind == wire.Text {
		return l.Piece.Text
	}
	return ""
}

// EndsTurn reports whether the line ends a turn of an agent that no tool call
// started.
func (l *Line) EndsTurn() bool { return l.Kind == wire.TurnEnd && l.Agent == "" }

// Lines returns the lines of Run.Played.
func (x *Index) Lines() []Line {
	if x.lines == nil {
		x.readLines()
	}
	return x.lines
}

// Echoes reports whether line i of Run.Played repeats a message of the client. In a run
// with a fault, no other line is read if the meaning of a line does not depend on those
// before it.
func (x *Index) Echoes(i int) bool {
	rt, w := Runtime(x.run), &x.run.Played[i].Line
	if x.lines != nil || x.run.Plain == nil || rt.Resolver != nil {
		return x.Lines()[i].Echo
	}
	return w.Dir == fixtures.Out && x.readLine(rt, w).Echo
}

// Runtime describes the runtime of a run; the zero value if it has none.
func Runtime(r *conformance.Run) *wire.Runtime {
	if rt := runtimes.Find(r.Runtime); rt != nil {
		return rt
	}
	return &wire.Runtime{}
}

func (x *Index) readLines() {
	r := x.run
	x.lines = make([]Line, len(r.Played))
	rt := runtimes.Find(r.Runtime)
	if rt == nil {
		return
	}
	out := x.lines
	if r.Plain == nil {
		x.parsed = make(map[location]wire.Line, len(r.Played))
	}
	main, other := "", map[string]bool{}
	resolve := rt.Resolve()
	for i, p := range r.Played {
		if p.Line.Dir != fixtures.Out {
			if p.Line.Dir == fixtures.In {
				in := x.readLine(rt, &p.Line)
				resolve(&in)
			}
			out[i].Main = main == ""
			continue
		}
		l := Line{Line: x.readLine(rt, &p.Line)}
		resolve(&l.Line)
		thread := ""
		if rt.Threads {
			thread = l.Session
			if l.Opened != "" && l.RepliesTo == nil {
				other[l.Opened] = len(other) > 0
			}
		}
		l.Other = other[thread]
		if main == "" && !l.Other {
			main = thread
		}
		l.Main = thread == main
		out[i] = l
	}
	if rt.OwnCallIDs() {
		nameTools(r, out)
	}
}

// location is where the bytes of a line are in memory. A line that a fault does not
// change shares them with the line of the case.
type location struct {
	first *byte
	n     int
	dir   fixtures.Dir
}

// readLine parses a line of input or output. The lines of the plain run are parsed once,
// because most lines of each run with a fault are the same.
func (x *Index) readLine(rt *wire.Runtime, w *fixtures.WireLine) wire.Line {
	if rt.Resolver != nil || len(w.Bytes) == 0 { // a resolver may change what a line points to
		return w.Read(rt)
	}
	plain := x
	if x.run.Plain != nil {
		plain = Of(x.run.Plain)
		plain.Lines()
	}
	at := location{&w.Bytes[0], len(w.Bytes), w.Dir}
	l, have := plain.parsed[at]
	if !have {
		l = w.Read(rt)
		if plain == x {
			x.parsed[at] = l
		}
	}
	l.Tools = slices.Clone(l.Tools) // nameTools changes them
	return l
}

// LineOf returns the play of a line of the case's file.
func LineOf(r *conformance.Run, line int) conformance.PlayedLine {
	for _, p := range r.Played {
		if p.Line.Line == line {
			return p
		}
	}
	return conformance.PlayedLine{}
}

// OpenFailed reports whether a line is of a process whose session did not open.
func OpenFailed(r *conformance.Run, line int) bool {
	for _, p := range r.Played {
		if p.Line.Line == line && p.Line.Process <= len(r.Opens) {
			return r.Opens[p.Line.Process-1].Err != nil
		}
	}
	return false
}

// Played reports whether a line of the case's file was played. Line 0 is the
// whole wire.
func Played(r *conformance.Run, line int) bool {
	return line == 0 || slices.ContainsFunc(r.Played, func(p conformance.PlayedLine) bool { return p.Line.Line == line })
}

// FirstLineOf returns how many lines had been played when the line that caused an event
// had been, at least. It is less than e.Line if the subject emitted the event later than
// its ts.
func FirstLineOf(r *conformance.Run, e conformance.Event) int {
	at := e.TS.Sub(r.Start)
	if r.Start.IsZero() || e.TS.IsZero() || at >= e.At {
		return e.Line
	}
	for i, p := range r.Played[:e.Line] {
		if p.At >= at {
			return i + 1
		}
	}
	return e.Line
}
