package fault

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/fixtures"
)

// pauseFor is longer than a client may wait without asking.
const pauseFor = 5 * time.Minute

// longPause lets the runtime think for a long time in mid-turn. What it is asked
// meanwhile it answers.
func longPause() Operator {
	const name = "long-pause"
	return Operator{
		Name: name, Kind: Transparent, Doc: "After a line of stdout in mid-turn the runtime says nothing for five minutes, but answers what it is asked.",
		Places: pauses,
		Apply: func(c *fixtures.Case, place int) Harm {
			return at(c, place, Harm{Operator: name, Kind: Transparent}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				out := slices.Clone(lines)
				for k := i + 1; k < len(out); k++ {
					out[k].T += pauseFor
				}
				return out
			})
		},
	}
}

// pauses are the places amid a turn of Claude Code where the runtime has the word:
// the next line is of stdout too, and no request of the client waits for it. A
// stop has a limit of its own, and whoever kills the runtime does not wait. (What the lifecycle answers for Codex brings
// notices that are no answer.)
func pauses(c *fixtures.Case) []int {
	var out []int
	runs, last := map[int]bool{}, map[int]int{} // by process; the line after which it may pause
	open := map[string]bool{}                   // requests of the client that have no reply
	for i, w := range c.Wire {
		f, before := frameOf(w.Bytes), last[w.Process]
		delete(last, w.Process)
		switch {
		case c.Runtime != "claude" || f.Request.Subtype == "interrupt" || w.Dir == fixtures.Signal:
			return nil
		case w.Dir == fixtures.In && f.Type == "control_request":
			open[f.RequestID] = true
		case w.Dir != fixtures.Out:
			continue
		case f.Type == "control_response":
			delete(open, f.Response.RequestID)
		case f.Type == "system" && f.Subtype == "init":
			runs[w.Process] = true
		case f.Type == "result":
			runs[w.Process] = false
		}
		if w.Dir == fixtures.Out && before > 0 {
			out = append(out, before)
		}
		if w.Dir == fixtures.Out && runs[w.Process] && len(open) == 0 {
			last[w.Process] = i
		}
	}
	return out
}
