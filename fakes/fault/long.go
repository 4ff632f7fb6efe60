package fault

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// longMember is the start of the member that makes a message long.
const longMember = `,"weather":"`

// lengthen adds a member of so many bytes to a message.
func lengthen(line []byte, n int) []byte {
	return slices.Concat(line[:len(line)-1], []byte(longMember), bytes.Repeat([]byte("fair "), n/5), []byte(`"}`))
}

// withoutLong removes from a text what lengthen has added.
func withoutLong(text string) string {
	before, behind, ok := strings.Cut(text, longMember+"fair fair ")
	if !ok {
		return text
	}
	_, behind, _ = strings.Cut(behind, `"`)
	return before + withoutLong(behind)
}

// objects are the lines of stdout that are JSON objects.
func objects(c *lines, _ bool) []int {
	return c.outputsWhere(func(i int) bool {
		b := c.wire[i].Bytes
		return bytes.HasPrefix(b, []byte(`{"`)) && bytes.HasSuffix(b, []byte("}"))
	})
}

// middleAndLast are two of the objects, in selected scenarios.
func middleAndLast(c *lines, named bool) []int {
	all := objects(c, named)
	if !named || len(all) < 2 {
		return nil
	}
	return []int{all[len(all)/2], all[len(all)-1]}
}

// longLine makes a message longer than readers of lines take by default, and than a
// pipe holds.
func longLine() Operator {
	return Operator{
		Name: "long-line", Kind: Transparent, Doc: "A message has one more member of 64 KiB.", places: objects,
		apply: lengthenBy(func(*lines, int) int { return 64 << 10 }),
	}
}

// hugeLine makes a message longer than most buffers.
func hugeLine() Operator {
	return Operator{
		Name: "huge-line", Kind: Transparent, Selective: true, Doc: "A message has one more member of 1 MiB, or a later one of 8 MiB.", places: middleAndLast,
		apply: lengthenBy(func(c *lines, place int) int {
			if place == middleAndLast(c, true)[0] {
				return 1 << 20
			}
			return 8 << 20
		}),
	}
}

func lengthenBy(size func(c *lines, place int) int) func(c *lines, place int) Fault {
	return func(c *lines, place int) Fault {
		return at(c, place, Fault{}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
			lines = slices.Clone(lines)
			lines[i].Bytes = lengthen(lines[i].Bytes, size(c, place))
			return lines
		})
	}
}

// endlessLength is longer than what an adapter takes as a line, in bytes.
const endlessLength = 65 << 20

// endlessText returns a text that is longer than what an adapter takes as a line. It is kept
// until the next garbage collection, not for the whole run.
func endlessText() []byte {
	endless.Lock()
	defer endless.Unlock()
	text := endless.text.Value()
	if text == nil {
		b := bytes.Repeat([]byte("no end of it "), endlessLength/13)
		text = &b
		endless.text = weak.Make(text)
	}
	return *text
}

var endless struct {
	sync.Mutex
	text weak.Pointer[[]byte]
}

// endlessLine adds a line that is longer than the limit.
func endlessLine() Operator {
	return Operator{
		Name: "endless-line", Kind: Noticed, Selective: true, Doc: "65 MiB without a line end follow a line of stdout.",
		places: func(c *lines, named bool) []int {
			if all := middleAndLast(c, named); all != nil {
				return all[:1]
			}
			return nil
		},
		apply: addLine(Fault{}, func(*lines, int) []byte { return endlessText() }),
	}
}

// endlessEnd makes the line that ends a turn longer than the limit, on the wires where it
// repeats what was said: there it grows with the turn. Its place is the line before.
func endlessEnd() Operator {
	return Operator{
		Name: "endless-end", Kind: Terminal, Selective: true,
		Doc: "The line that ends a turn has one more member of 65 MiB, on wires where it repeats the text of the turn.",
		places: func(c *lines, named bool) []int {
			if !named {
				return nil
			}
			var said []byte // the last piece of text, as a line quotes it
			return c.placesBefore(func(i int) bool {
				if c.isText(i) {
					quoted, _ := jsontext.AppendQuote(nil, c.read[i].Piece.Text)
					said = quoted[1 : len(quoted)-1]
				}
				return c.read[i].Kind == wire.TurnEnd && said != nil && bytes.Contains(c.wire[i].Bytes, said)
			})
		},
		apply: func(c *lines, place int) Fault {
			return at(c, place, Fault{}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				lines = slices.Clone(lines)
				for i++; lines[i].Dir != fixtures.Out || c.rt.ReadOutput(lines[i].Bytes).Kind != wire.TurnEnd; i++ {
				}
				lines[i].Bytes = lengthen(lines[i].Bytes, endlessLength)
				return lines
			})
		},
	}
}
