package fault

import (
	"bytes"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
)

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
		Apply: func(c *fixtures.Case, place int) Fault {
			lines := of(c)[place]
			again := c.Wire[lines[place%len(lines)]].Bytes
			return at(c, place, Fault{Operator: name, Kind: Transparent, NoticeAllowed: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, again)
			})
		},
	}
}
