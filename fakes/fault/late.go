package fault

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// What comes again when its turn is over, or while the next one runs. An id
// proves that it is of the old turn. Stream events of older versions of Claude
// Code have none, and there a late delta may as well be the first of a turn that
// the runtime begins by itself.

// lateDelta repeats the last delta of a turn behind its end.
func lateDelta() Operator {
	return late("late-delta", "After the end of a turn, or when the next one has begun, comes the last delta of its text again.", ofDelta)
}

// lateItem repeats the last item of a turn behind its end.
func lateItem() Operator {
	return late("late-item", "After the end of a turn, or when the next one has begun, comes its last item again.", ofItem)
}

// late repeats a line of a turn that is over, behind its end or behind the first
// line of the next one. Turns of Claude Code are those that another one follows
// in their process.
func late(name, doc string, part turnPart) Operator {
	return Operator{
		Name: name, Kind: Transparent, Doc: doc,
		Places: func(c *fixtures.Case) []int {
			places, _ := overdue(c, part)
			return places
		},
		Apply: func(c *fixtures.Case, place int) Harm {
			_, from := overdue(c, part)
			return at(c, place, Harm{Operator: name, Kind: Transparent, May: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, c.Wire[from[place]].Bytes)
			})
		},
	}
}

// staleLine repeats, while a turn runs, a line of the one before it: by the
// place its last delta, its last item or its end.
func staleLine() Operator {
	const name = "stale-line"
	// of are the lines of the last turn that has ended, as a line of the next one
	// comes.
	of := func(c *fixtures.Case) map[int][]int {
		out := map[int][]int{}
		ends := 0
		for _, w := range c.Wire {
			if bytes.Contains(w.Bytes, []byte(`"turn/completed"`)) {
				ends++
			}
		}
		if c.Runtime != "codex" || ends == 0 {
			return out
		}
		sessions, turns := sessionIDs(c), turnIDs(c)
		type thread struct {
			process int
			id      string
		}
		last, ended := map[thread]map[string]int{}, map[thread][]int{} // by method, of the turn that ends
		for i, w := range c.Wire {
			if w.Dir != fixtures.Out {
				continue
			}
			f, at := frameOf(w.Bytes), thread{w.Process, sessions[i]}
			if f.Params.ThreadID != at.id {
				continue
			}
			switch f.Method {
			case "turn/completed":
				ended[at] = nil
				for _, method := range []string{"item/agentMessage/delta", "item/completed"} {
					if k, said := last[at][method]; said && frameOf(c.Wire[k].Bytes).Params.TurnID == f.Params.Turn.ID {
						ended[at] = append(ended[at], k)
					}
				}
				ended[at] = append(ended[at], i)
				delete(last, at)
			case "item/agentMessage/delta", "item/completed":
				if last[at] == nil {
					last[at] = map[string]int{}
				}
				last[at][f.Method] = i
			}
			if turns[i] != "" && len(ended[at]) > 0 {
				out[i] = ended[at]
			}
		}
		return out
	}
	return Operator{
		Name: name, Kind: Transparent, Doc: "While a turn of codex runs comes a line of the one before it again: its last delta, its last item or its end.",
		Places: func(c *fixtures.Case) []int { return slices.Sorted(maps.Keys(of(c))) },
		Apply: func(c *fixtures.Case, place int) Harm {
			lines := of(c)[place]
			again := c.Wire[lines[place%len(lines)]].Bytes
			return at(c, place, Harm{Operator: name, Kind: Transparent, May: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, again)
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
