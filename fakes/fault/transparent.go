package fault

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
)

// bytewise is how much of a line is cut into single bytes: the rest of one that
// is megabytes long would show nothing new.
const bytewise = 64 << 10

func everyByte(line []byte) [][]byte {
	n := min(len(line), bytewise)
	out := make([][]byte, 0, n+len(line)/bytewise)
	for i := range n {
		out = append(out, line[i:i+1:i+1])
	}
	return slices.AppendSeq(out, slices.Chunk(line[n:], bytewise))
}

// splitRandom cuts lines at random. Its places are seeds.
func splitRandom() Operator {
	const name = "split-random"
	return Operator{
		Name: name, Kind: Transparent, Doc: "Stdout is cut at random, inside characters and escapes too.",
		Places: func(*fixtures.Case) []int { return []int{1, 2, 3} },
		Apply: func(_ *fixtures.Case, seed int) Fault {
			return Fault{Operator: fmt.Sprintf("%s(%d)", name, seed), Kind: Transparent, Place: seed, Chunk: func(line []byte) [][]byte {
				// Of the line alone: the same line is cut in the same way
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

// glue joins lines of stdout that follow each other.
func glue(_ int, lines []fixtures.WireLine) []fixtures.WireLine {
	out := make([]fixtures.WireLine, 0, len(lines))
	for _, w := range lines {
		if n := len(out); n > 0 && w.Dir == fixtures.Out && out[n-1].Dir == fixtures.Out {
			last := &out[n-1]
			last.Bytes = slices.Concat(last.Bytes, []byte("\n"), w.Bytes)
			last.T = w.T // nothing is there before the last of them
			continue
		}
		out = append(out, w)
	}
	return out
}

// noFinalNewline is for processes that write until they end by themselves. Where
// a client closes them first it would wait for the line end for ever; see
// exit-without-newline.
func noFinalNewline() Operator {
	const name = "no-final-newline"
	return Operator{
		Name: name, Kind: Transparent, Doc: "The last line of a process has no line end.",
		Places: func(c *fixtures.Case) []int {
			last := map[int]int{}
			for i, w := range c.Wire {
				switch w.Dir {
				case fixtures.Out:
					last[w.Process] = i
				case fixtures.In, fixtures.EOF:
					delete(last, w.Process)
				case fixtures.Exit:
					if at, ok := last[w.Process]; ok {
						return []int{at}
					}
				}
			}
			return nil
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return Fault{Operator: name, Kind: Transparent, Place: place, Line: c.Wire[place].Line, NoLastNewline: true}
		},
	}
}

// afterEach puts a line after each line of stdout.
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

// noise is what runtimes log.
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
