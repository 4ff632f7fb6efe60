package turn

import (
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// closedAfter returns when the session was closed, or another one opened, after a
// moment; the maximum if it was not.
func closedAfter(r *conformance.Run, at time.Duration) time.Duration {
	for _, a := range r.Steps {
		v := a.Step.Verb
		ends := v == fixtures.VerbClose || v == fixtures.VerbArchive || v == fixtures.VerbOpen && a.At > at ||
			v == fixtures.VerbStop && runindex.Runtime(r).StopsBySignal() // a signal ends any process
		if a.At >= at && ends {
			return a.At
		}
	}
	return 1<<63 - 1
}

// withinStep reports whether a step of the model was open at a line of a runtime that shows calls
// when they have ended: a call may have been running.
func withinStep(r *conformance.Run, at conformance.PlayedLine) (within bool) {
	lines := runindex.Of(r).Lines()
	for i, p := range r.Played {
		if p.Line.Line <= at.Line.Line && p.Line.Process == at.Line.Process {
			within = (within || lines[i].StepBegins) && !lines[i].StepEnds && !lines[i].EndsTurn()
		}
	}
	return within
}

// runsUnnamed reports whether a call was running at a line that the runtime had not named yet.
// A subject may wait for its end as for that of any tool, although no event shows it.
func runsUnnamed(r *conformance.Run, at conformance.PlayedLine) bool {
	open := map[string]bool{}
	lines := runindex.Of(r).Lines()
	for i, p := range r.Played {
		if p.Line.Line > at.Line.Line || p.Line.Process != at.Line.Process {
			continue
		}
		for _, tool := range lines[i].Tools {
			if tool.Unnamed {
				open[tool.ID] = true
			} else {
				delete(open, tool.ID)
			}
		}
		if lines[i].EndsTurn() {
			clear(open)
		}
	}
	return len(open) > 0
}
