package curve

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Turns measures an adapter on one session of n turns. It repeats the turn of a recording,
// with new ids in each. Memory is what the adapter holds after the last turn.
func Turns(a adapters.Transcriber, c *fixtures.Case, n int, cpu func() int64) (Point, error) {
	before, turn := cutTurn(c)
	if turn == nil {
		return Point{}, fmt.Errorf("case %s: it has no turn that could be repeated", c.ID)
	}
	base := held()
	turns := 0
	t := a.Transcribe("s1", func(e event.Event) {
		if e.Type() == event.TypeTurnStart {
			turns++
		}
	})
	from, began := cpu(), time.Now()
	for _, l := range before {
		t.Line(time.Now(), l)
	}
	var line []byte
	for i := range n {
		for _, l := range turn {
			line = l.appendTo(line[:0], i)
			t.Line(time.Now(), line)
		}
	}
	p := Point{N: n, CPU: float64(cpu()-from) / 1e9, Wall: time.Since(began).Seconds(), Memory: max(0, held()-base)}
	t.End()
	if turns != n {
		return p, fmt.Errorf("case %s: %d turns were played and %d began", c.ID, n, turns)
	}
	return p, nil
}

// held returns the memory of the heap in use, after a collection.
func held() float64 {
	for range 2 { // the first collection only marks what pools hold
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// repeated is a line whose ids are made new in each repeat: pieces of it, an id behind each
// piece but the last.
type repeated [][]byte

func (r repeated) appendTo(b []byte, n int) []byte {
	for i, piece := range r {
		if i > 0 {
			b = append(b, '-', 'r')
			b = strconv.AppendInt(b, int64(n), 10)
		}
		b = append(b, piece...)
	}
	return b
}

// idForm is what ids look like. What also occurs before the turn is no id of the turn.
var idForm = regexp.MustCompile(`"[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{7,}"`)

// cutTurn returns the runtime's lines before the first message of a case, and those from
// there on.
func cutTurn(c *fixtures.Case) (before [][]byte, turn []repeated) {
	var known [][]byte
	sent := false
	for i := range c.Wire {
		switch w := &c.Wire[i]; w.Dir {
		case fixtures.In:
			sent = sent || standin.IsMessage(c.Runtime, w.Bytes)
		case fixtures.Out:
			if !sent {
				before, known = append(before, w.Bytes), append(known, w.Bytes)
				continue
			}
			turn = append(turn, cutIDs(w.Bytes, bytes.Join(known, nil)))
		}
	}
	return before, turn
}

// cutIDs cuts a line behind each id that does not occur in known.
func cutIDs(line, known []byte) (out repeated) {
	at := 0
	for _, m := range idForm.FindAllIndex(line, -1) {
		if id := line[m[0]:m[1]]; !bytes.Contains(known, id) && (m[1] == len(line) || line[m[1]] != ':') {
			out, at = append(out, line[at:m[1]-1]), m[1]-1
		}
	}
	return append(out, line[at:])
}
