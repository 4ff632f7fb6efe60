package fault

import (
	"slices"

	"github.com/turnspec/turnspec/fixtures"
)

// What comes again when its turn is over. An id proves that it is of the old
// turn: Claude Code's stream events have none, and there a late delta may as
// well be the first of a turn that the runtime begins by itself.

// lateDelta repeats the last delta of a turn behind its end.
func lateDelta() Operator {
	return late("late-delta", "After the end of a turn of codex comes the last delta of its text again.", "item/agentMessage/delta")
}

// lateItem repeats the last item of a turn behind its end.
func lateItem() Operator {
	return late("late-item", "After the end of a turn of codex comes its last item again.", "item/completed")
}

func late(name, doc, method string) Operator {
	// of is the line that is repeated behind the end of its turn.
	of := func(c *fixtures.Case, place int) (int, bool) {
		end := frameOf(c.Wire[place].Bytes)
		if c.Runtime != "codex" || end.Method != "turn/completed" {
			return 0, false
		}
		for i := place - 1; i >= 0; i-- {
			w := c.Wire[i]
			if w.Dir != fixtures.Out || w.Process != c.Wire[place].Process {
				continue
			}
			f := frameOf(w.Bytes)
			if f.Method == method && f.Params.ThreadID == end.Params.ThreadID && f.Params.TurnID == end.Params.Turn.ID {
				return i, true
			}
		}
		return 0, false
	}
	return Operator{
		Name: name, Kind: Transparent, Doc: doc,
		Places: func(c *fixtures.Case) []int {
			return slices.DeleteFunc(outputs(c), func(i int) bool { _, ok := of(c, i); return !ok })
		},
		Apply: func(c *fixtures.Case, place int) Harm {
			from, _ := of(c, place)
			return at(c, place, Harm{Operator: name, Kind: Transparent, May: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, c.Wire[from].Bytes)
			})
		},
	}
}

// duplicateEnd says the end of a turn twice: its id, or that of the message,
// proves that it is the same end.
func duplicateEnd() Operator {
	const name = "duplicate-end"
	return Operator{
		Name: name, Kind: Transparent, Doc: "The end of a turn comes twice, with the same id.",
		Places: func(c *fixtures.Case) []int {
			return slices.DeleteFunc(outputs(c), func(i int) bool {
				f := frameOf(c.Wire[i].Bytes)
				return f.Method != "turn/completed" && (f.Type != "result" || f.UUID == "")
			})
		},
		Apply: func(c *fixtures.Case, place int) Harm {
			return at(c, place, Harm{Operator: name, Kind: Transparent, May: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, lines[i].Bytes)
			})
		},
	}
}
