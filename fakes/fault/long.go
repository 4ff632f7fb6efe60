package fault

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/fixtures"
)

// longMember makes a line longer than what readers of lines take who were told
// no other bound, and than a pipe holds.
const longMember = `,"weather":"`

// lengthen adds a member of so many bytes to a message.
func lengthen(line []byte, n int) []byte {
	return slices.Concat(line[:len(line)-1], []byte(longMember), bytes.Repeat([]byte("fair "), n/5), []byte(`"}`))
}

// withoutLong takes out of a text what lengthen has added.
func withoutLong(text string) string {
	before, behind, ok := strings.Cut(text, longMember+"fair fair ")
	if !ok {
		return text
	}
	_, behind, _ = strings.Cut(behind, `"`)
	return before + withoutLong(behind)
}

// messages are the places of lines that are objects.
func messages(c *fixtures.Case) []int {
	return slices.DeleteFunc(outputs(c), func(i int) bool {
		b := c.Wire[i].Bytes
		return !bytes.HasPrefix(b, []byte(`{"`)) || !bytes.HasSuffix(b, []byte("}"))
	})
}

// Plainest is the scenario on whose cases the longest lines are tried, and what
// shows the same in every case: what stands in them does not matter.
const Plainest = "text/plain"

// longLine makes one message long. It is still whole and known.
func longLine() Operator {
	return longer("long-line", "A message has one more member of 64 KiB.", messages, func(*fixtures.Case, int) int { return 64 << 10 })
}

// hugeLine makes one message longer than most buffers.
func hugeLine() Operator {
	places := func(c *fixtures.Case) []int {
		all := messages(c)
		if c.Scenario != Plainest || len(all) < 2 {
			return nil
		}
		return []int{all[len(all)/2], all[len(all)-1]}
	}
	return longer("huge-line", "A message has one more member of 1 MiB, or a later one of 8 MiB, on the cases of "+Plainest+".", places,
		func(c *fixtures.Case, place int) int {
			if place == places(c)[0] {
				return 1 << 20
			}
			return 8 << 20
		})
}

func longer(name, doc string, places func(*fixtures.Case) []int, size func(c *fixtures.Case, place int) int) Operator {
	return Operator{
		Name: name, Kind: Transparent, Doc: doc, Places: places,
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Transparent}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				lines = slices.Clone(lines)
				lines[i].Bytes = lengthen(lines[i].Bytes, size(c, place))
				return lines
			})
		},
	}
}

// endless is longer than what an adapter takes for a line.
var endless = sync.OnceValue(func() []byte { return bytes.Repeat([]byte("no end of it "), 65<<20/13) })

// endlessLine adds a line that is longer than the cap.
func endlessLine() Operator {
	const name = "endless-line"
	return Operator{
		Name: name, Kind: Noticed, Doc: "After a line of stdout come 65 MiB with no line end in them, on the cases of " + Plainest + ".",
		Places: func(c *fixtures.Case) []int {
			if all := messages(c); c.Scenario == Plainest && len(all) > 1 {
				return all[len(all)/2:][:1]
			}
			return nil
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Noticed}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, endless())
			})
		},
	}
}
