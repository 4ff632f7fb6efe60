package fault

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// maxBytewise is how much of a line is cut into single bytes. The rest of a line of
// megabytes would show nothing new.
const maxBytewise = 64 << 10

func everyByte(line []byte) [][]byte {
	n := min(len(line), maxBytewise)
	out := make([][]byte, 0, n+len(line)/maxBytewise)
	for i := range n {
		out = append(out, line[i:i+1:i+1])
	}
	return slices.AppendSeq(out, slices.Chunk(line[n:], maxBytewise))
}

// splitRandom cuts lines at random. Its places are seeds.
func splitRandom() Operator {
	const name = "split-random"
	return Operator{
		Name: name, Kind: Transparent, Doc: "Stdout is cut at random, also inside characters and escapes.",
		places: func(*lines, bool) []int { return []int{1, 2, 3} },
		apply: func(_ *lines, seed int) Fault {
			return Fault{Operator: fmt.Sprintf("%s(%d)", name, seed), Chunk: func(line []byte) [][]byte {
				// The seed and the line decide, so that a line is cut in the same way
				// whatever was played before it.
				r := rand.New(rand.NewPCG(uint64(seed), uint64(len(line))))
				var out [][]byte
				for len(line) > 0 {
					n := 1 + r.IntN(min(len(line), 1+r.IntN(200)))
					out = append(out, line[:n])
					line = line[n:]
				}
				return out
			}}
		},
	}
}

func crlf(line []byte) [][]byte {
	return [][]byte{bytes.ReplaceAll(line, []byte("\n"), []byte("\r\n"))}
}

// maxGlued is how long a line waits at most to be written with others. A reply that comes
// later may exceed the limit of an adapter, which is no matter of how lines are cut.
const maxGlued = 10 * time.Second

// glue joins lines of stdout that follow each other.
func glue(_ int, lines []fixtures.WireLine) []fixtures.WireLine {
	out := make([]fixtures.WireLine, 0, len(lines))
	var first time.Duration // when the first line of the last write came
	for _, w := range lines {
		if n := len(out); n > 0 && w.Dir == fixtures.Out && out[n-1].Dir == fixtures.Out && w.T-first <= maxGlued {
			last := &out[n-1]
			last.Bytes = slices.Concat(last.Bytes, []byte("\n"), w.Bytes)
			last.T = w.T // all of them come with the last
			continue
		}
		out, first = append(out, w), w.T
	}
	return out
}

// noFinalNewline is for processes that write until they end by themselves. If a
// client closes stdin first, or stops the turn by a signal, it would wait for the line end
// without limit; see exit-without-newline.
func noFinalNewline() Operator {
	return Operator{
		Name: "no-final-newline", Kind: Transparent, Doc: "The last line of a process has no line end.",
		places: func(c *lines, _ bool) []int {
			last := map[int]int{}
			for i, w := range c.wire {
				switch w.Dir {
				case fixtures.Out:
					last[w.Process] = i
				case fixtures.In, fixtures.EOF:
					delete(last, w.Process)
				case fixtures.Signal:
					if c.rt.IsStop(w.Signal) && !w.Outside {
						delete(last, w.Process)
					}
				case fixtures.Exit:
					if at, ok := last[w.Process]; ok {
						return []int{at}
					}
				}
			}
			return nil
		},
		apply: func(c *lines, place int) Fault { return Fault{Line: c.wire[place].Line, NoLastNewline: true} },
	}
}

// afterEach adds a line after each line of stdout.
func afterEach(dir fixtures.Dir, text func(i int) string) func(int, []fixtures.WireLine) []fixtures.WireLine {
	return func(_ int, lines []fixtures.WireLine) []fixtures.WireLine {
		out := make([]fixtures.WireLine, 0, 2*len(lines))
		for i, w := range lines {
			out = append(out, w)
			if w.Dir == fixtures.Out {
				out = append(out, fixtures.WireLine{T: w.T, Process: w.Process, Dir: dir, Bytes: []byte(text(i))})
			}
		}
		return out
	}
}

// noise is what a runtime may log. Two of the lines look like an end of a turn.
func noise(i int) string {
	switch i % 4 {
	case 0:
		return "\x1b[2m2026-01-01T00:00:00Z\x1b[0m \x1b[31mERROR\x1b[0m \x1b[2mcore::session\x1b[0m: failed to look, going on"
	case 1:
		return `{"method":"turn/completed","params":{}}`
	case 2:
		return `{"type":"result","subtype":"success","is_error":false,"result":"not on stdout"}`
	}
	return "\xff\xfe not UTF-8"
}

// stderrFlood fills the pipe of stderr. A client that does not read it never gets the
// rest of stdout.
func stderrFlood() Operator {
	return Operator{
		Name: "stderr-flood", Kind: Transparent, Doc: "200 KiB on stderr follow the first line of stdout.",
		places: func(c *lines, _ bool) []int { return c.outputs()[:min(1, len(c.outputs()))] },
		apply: func(c *lines, place int) Fault {
			return at(c, place, Fault{}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				w := lines[i]
				w.Dir, w.Bytes = fixtures.Err, bytes.Repeat([]byte("0123456789abcdef"), 200<<10/16)
				return insertLine(lines, i+1, w)
			})
		},
	}
}

// PauseLength is how long the runtime writes nothing under long-pause: longer than
// clients wait for any line, and shorter than they wait for a runtime that answers
// nothing.
const PauseLength = 4*time.Minute + 20*time.Second

// longPause lets the model think within its text. The runtime answers requests
// meanwhile.
func longPause() Operator {
	return Operator{
		Name: "long-pause", Kind: Transparent, Doc: fmt.Sprintf("Nothing comes for %v after a delta, and then the rest. Requests are answered meanwhile.", PauseLength),
		places: func(c *lines, _ bool) []int {
			return c.outputsWhere(func(i int) bool {
				return i+1 < len(c.wire) && c.wire[i+1].Dir == fixtures.Out && c.isText(i) && c.isText(i+1)
			})
		},
		apply: pauseAfter,
	}
}

// longTool lets a tool run for minutes.
func longTool() Operator {
	return Operator{
		Name: "long-tool", Kind: Transparent, Doc: fmt.Sprintf("Nothing comes for %v after the start of a tool or of another item, and then the rest. Requests are answered meanwhile.", PauseLength),
		places: func(c *lines, _ bool) []int {
			return c.outputsWhere(func(i int) bool {
				return i+1 < len(c.wire) && c.wire[i+1].Dir == fixtures.Out && c.startsTool(i) && !c.endsTool(i) && !c.inStoppedTurn(i)
			})
		},
		apply: pauseAfter,
	}
}

func (c *lines) startsTool(i int) bool {
	return slices.ContainsFunc(c.read[i].Tools, func(t wire.Tool) bool { return !t.Ends })
}

func (c *lines) endsTool(i int) bool {
	return slices.ContainsFunc(c.read[i].Tools, func(t wire.Tool) bool { return t.Ends })
}

// inStoppedTurn reports whether the client stops the turn that runs at a line. A client
// that has stopped a turn need not wait for minutes for its end.
func (c *lines) inStoppedTurn(i int) bool {
	process := c.wire[i].Process
	stops := func(k int, until wire.Kind) (stop, over bool) {
		if c.wire[k].Process != process {
			return false, false
		}
		return c.wire[k].Dir == fixtures.In && c.read[k].Kind == wire.Stop, c.read[k].Kind == until
	}
	for k := i; k < len(c.wire); k++ {
		if stop, over := stops(k, wire.TurnEnd); stop {
			return true
		} else if over {
			break
		}
	}
	for k := i; k >= 0; k-- {
		if stop, over := stops(k, wire.TurnStart); stop {
			return true
		} else if over {
			break
		}
	}
	return false
}

// pauseAfter makes all lines behind a place come later by PauseLength.
func pauseAfter(c *lines, place int) Fault {
	return at(c, place, Fault{}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
		lines = slices.Clone(lines)
		for k := range lines[i+1:] {
			lines[i+1+k].T += PauseLength
		}
		return lines
	})
}
