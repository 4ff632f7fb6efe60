package redact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// groups joins the deltas of a stream into one unit, because a delta may end in
// the middle of what is redacted.
type groups struct {
	p      *pass
	rts    []*wire.Runtime    // the runtime of the case, or all if it is unknown
	read   []func(*wire.Line) // completes a line of the runtime with the same index
	open   map[string]*unit
	blocks int // content blocks that have begun, see wire.Line.BlockStart
}

// markPrinted marks the texts of a line, whose units begin at first, that the wire's reader
// knows to be output.
func (g *groups) markPrinted(w *fixtures.WireLine, first int) {
	for _, rt := range g.rts {
		printed := w.Read(rt).Printed
		if len(printed) == 0 {
			continue
		}
		for _, u := range g.p.units[first:] {
			u.output = u.output || !u.name && slices.Contains(printed, u.text)
		}
	}
}

// joinDeltas moves the delta of a line, whose units begin at first, to its group.
func (g *groups) joinDeltas(w *fixtures.WireLine, first int) {
	var l wire.Line
	if g.read == nil {
		for _, rt := range g.rts {
			g.read = append(g.read, rt.Resolve())
		}
	}
	for i, rt := range g.rts {
		if l = w.Read(rt); w.Dir == fixtures.In || w.Dir == fixtures.Out {
			g.read[i](&l)
		}
		if l.BlockStart {
			g.blocks++
		}
		if l.Piece.Path != "" {
			break
		}
	}
	if l.Piece.Path == "" {
		return
	}
	rest := g.p.units[:first]
	for _, u := range g.p.units[first:] {
		t := u.pieces[0].tok
		if u.name || t.path != l.Piece.Path {
			rest = append(rest, u)
			continue
		}
		key := fmt.Sprintln(w.Process, t.path, l.Piece.Block, g.blocks)
		group := g.open[key]
		if group == nil {
			g.open[key] = u
			u.len = len(u.text)
			u.output = l.Piece.Kind == wire.Output
			rest = append(rest, u)
			continue
		}
		group.pieces = append(group.pieces, piece{u.pieces[0].doc, t, group.len})
		group.more = append(group.more, t.text)
		group.len += len(t.text)
	}
	g.p.units = rest
}

// setTexts gives each group its whole text.
func (g *groups) setTexts() {
	for _, u := range g.open {
		u.text = strings.Join(append([]string{u.text}, u.more...), "")
	}
}
