package tool

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Parallel is the check tool.parallel.
var Parallel = &conformance.Check{
	ID: "tool.parallel", Source: "wire/claude: results come in the order in which the tools end", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:       "Keep the state of a call under its id, not in variables of the turn. Do not expect results in the order of the calls.",
	Sentence:   "Tools and agents that run at once may be interleaved in any order: the events of each stay the same.",
	Faults:     []string{"reorder-independent"},
	JudgeFault: judgeReordered,
}

// judgeReordered demands that the events of each tool and each agent are the same,
// whichever of two came first.
func judgeReordered(plain, r *conformance.Run, f *conformance.Finding) {
	if !runindex.Played(plain, r.Fault.Line) {
		return
	}
	f.Asserted(1)
	if r.Hang != "" {
		f.Hungf("the subject hangs: %s", r.Hang)
		return
	}
	want, order := byWork(plain)
	got, more := byWork(r)
	for _, of := range append(order, more...) {
		if !faulted.SameEvents(want[of], got[of]) {
			f.Problems = append(f.Problems, conformance.Problem{
				Text: "the events of " + of + " differ",
				Diff: conformance.Diff("without the fault", strings.Join(want[of], "\n")+"\n", "with the fault", strings.Join(got[of], "\n")+"\n"),
			})
			return
		}
	}
}

// byWork returns the canonical events of each tool, task and agent of a run.
func byWork(r *conformance.Run) (events map[string][]string, order []string) {
	events = map[string][]string{}
	for i, e := range r.Events {
		of := "agent " + e.SubagentID
		if id, ok := event.ToolID(e.Data); ok {
			of = "tool " + id
		} else if d, is := e.Data.(event.Task); is {
			of = "task " + d.TaskID
		}
		if of = r.Recorded(of); events[of] == nil {
			order = append(order, of)
		}
		events[of] = append(events[of], r.Canonical()[i])
	}
	return events, order
}
