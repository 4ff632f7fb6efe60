package tool

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Plan is the check tool.plan.
var Plan = &conformance.Check{
	ID: "tool.plan", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"plan", "plan.steps", "plan.steps.text", "plan.steps.status"},
	Needs:    []string{"plan"},
	Mend:     "Emit the whole list at each change of the plan, as the runtime holds it after the change. If the runtime sends single changes, apply them to the stored list.",
	Sentence: "plan holds the whole list of steps as the model has made it, with their statuses, after each change.",
	Judge:    judgePlan,
}

// judgePlan compares the plan events with the lists that the calls of the model give.
func judgePlan(t *conformance.Trial, f *conformance.Finding) {
	want := plannedLists(t.Run)
	if len(want) == 0 {
		return
	}
	f.Asserted(len(want))
	var got []string
	for e, d := range runindex.EventsOf[event.Plan](t.Run) {
		if e.SubagentID == "" {
			got = append(got, planText(d.Steps))
		}
	}
	if runindex.RecordedShows(t.Run, func(l *wire.Line) bool { return l.TicksOff }) {
		want, got = tickedOff(want), tickedOff(got)
	}
	want, got = slices.Compact(want), slices.Compact(got) // a plan may be emitted again
	if !slices.Equal(want, got) {
		f.Diff("the plans are not those that the model made", strings.Join(want, "\n")+"\n", strings.Join(got, "\n")+"\n")
	}
}

// plannedLists returns the list after each call that changes it. A call holds the whole
// list, or, if the scenario needs a task list, makes or changes one task.
func plannedLists(r *conformance.Run) []string {
	var ids []string
	var steps []event.PlanStep
	var out []string
	single := slices.Contains(r.Scenario.Needs, "task-list")
	results := runindex.ToolResults(r)
	for _, call := range runindex.Calls(r) {
		var in struct {
			Steps []struct {
				Step   string           `json:"step"`
				Status event.StepStatus `json:"status"`
			} `json:"steps"`
			Input struct {
				ID      string           `json:"taskId"`
				Subject string           `json:"subject"`
				Status  event.StepStatus `json:"status"`
			} `json:"input"`
		}
		if call.Tool != "todo" && call.Tool != "other" || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		if call.Tool == "todo" && !single {
			ids, steps = nil, nil
		}
		for _, s := range in.Steps {
			ids = append(ids, strconv.Itoa(len(ids)+1))
			steps = append(steps, event.PlanStep{Text: s.Step, Status: stepStatus(s.Status)})
		}
		if i := slices.Index(ids, in.Input.ID); call.Tool == "other" && i >= 0 && strings.HasPrefix(results[call.ID], "Updated") {
			if in.Input.Subject != "" {
				steps[i].Text = in.Input.Subject
			}
			switch in.Input.Status {
			case "":
			case "deleted":
				ids[i] = ""
				steps[i].Text = ""
			default:
				steps[i].Status = stepStatus(in.Input.Status)
			}
		}
		if len(ids) > 0 || len(out) > 0 { // an empty list is shown in place of another
			out = append(out, planText(slices.DeleteFunc(slices.Clone(steps), func(s event.PlanStep) bool { return s.Text == "" })))
		}
	}
	return out
}

// tickedOff returns the lists of a wire that does not show which step is in progress.
func tickedOff(lists []string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, strings.ReplaceAll(l, string(event.StepInProgress)+": ", string(event.StepPending)+": "))
	}
	return out
}

func stepStatus(s event.StepStatus) event.StepStatus {
	if s == "" {
		return event.StepPending
	}
	return s
}

func planText(steps []event.PlanStep) string {
	var out []string
	for _, s := range steps {
		out = append(out, string(s.Status)+": "+s.Text)
	}
	return strings.Join(out, "; ")
}
