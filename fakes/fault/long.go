package fault

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/turnspec/turnspec/fixtures"
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

// endlessText returns a text that is longer than what an adapter takes as a line. It is kept
// until the next garbage collection, not for the whole run.
func endlessText() []byte {
	endless.Lock()
	defer endless.Unlock()
	text := endless.text.Value()
	if text == nil {
		b := bytes.Repeat([]byte("no end of it "), 65<<20/13)
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
