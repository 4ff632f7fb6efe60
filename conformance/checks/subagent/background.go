package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Background is the check subagent.background.
var Background = &conformance.Check{
	ID: "subagent.background", Source: "wire/claude: a sub-agent continues after the result", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"task", "task.kind", "task.status"},
	Needs:    []string{"subagent_id", "task"},
	Mend:     "Emit task when the work starts and once when it ends. After the end drop lines of that sub-agent. Do not end it with its parent's turn.",
	Sentence: "The task of a sub-agent is reported to start and to end, each once. No event of the sub-agent follows the end, also if it outlives the turn of its parent.",
	Judge:    judgeTasks,
}

func judgeTasks(t *conformance.Trial, f *conformance.Finding) {
	runs := map[string]bool{}
	for _, e := range t.Events {
		if d, ok := e.Data.(event.Task); ok && d.Kind == event.TaskSubagent {
			f.Asserted(1)
			running, known := runs[d.TaskID]
			switch {
			case d.Status == event.TaskRunning:
				runs[d.TaskID] = true
			case !known:
				f.At(e, "task %s ends, but was never reported to run", d.TaskID)
			case !running:
				f.At(e, "task %s ends a second time", d.TaskID)
			default:
				runs[d.TaskID] = false
			}
			continue
		}
		if running, known := runs[e.SubagentID]; known && !running && e.SubagentID != "" && e.Type() != event.TypeNotice {
			f.At(e, "%s of sub-agent %s follows the end of its task", e.Type(), e.SubagentID)
		}
	}
	for id, running := range runs {
		if running {
			f.Failf("the end of task %s is not reported", id)
		}
	}
	if len(runindex.Subagents(t.Run)) > len(runs) {
		f.Asserted(1)
		f.Failf("%d sub-agents asked the model, but only %d have a task", len(runindex.Subagents(t.Run)), len(runs))
	}
}
