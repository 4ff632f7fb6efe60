package question

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// PlanApproval is the check question.plan-approval.
var PlanApproval = &conformance.Check{
	ID: "question.plan-approval", Source: "wire/claude: 2.1.329 asks for the approval of a plan with an empty input", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"interrupt", "interrupt.props"},
	Needs:    []string{"interrupt"},
	Mend:     "Put the plan into the props of the interrupt. If the runtime asks without it, take it from the tool call that the question is about. Answered without a value, an interrupt has the decision as its value.",
	Sentence: "If the user is to approve a plan, the props of the interrupt hold the text of the plan that the model gave, and the value of interrupt_resolved holds the user's answer.",
	Judge:    judgePlanApproval,
}

// judgePlanApproval judges the text of plans that the model gives with its call. One that it
// wrote as text is in the chat already.
func judgePlanApproval(t *conformance.Trial, f *conformance.Finding) {
	if len(t.Unrecorded) > 0 || len(runindex.Answers(t.Run)) == 0 {
		return
	}
	proposed := false
	for _, call := range runindex.Calls(t.Run) {
		var in struct {
			Plan string `json:"plan"`
		}
		if call.Tool != "plan" || call.Hidden {
			continue
		}
		proposed = true
		if !runindex.Decode(call.Input, &in) || in.Plan == "" {
			continue
		}
		f.Asserted(1)
		if !asked(t.Run, []string{in.Plan}) {
			f.Failf("the model gave the plan %q, but the props of no interrupt hold it: %q", runindex.Clip(in.Plan), shownProps(t.Run))
		}
	}
	for e, d := range runindex.EventsOf[event.InterruptResolved](t.Run) {
		if !proposed || d.By != event.ByUser {
			continue
		}
		f.Asserted(1)
		if len(d.Value) == 0 || d.Value.Kind() == 'n' {
			f.At(e, "the user answered, but the value of %s does not state whether the plan is approved", d.InterruptID)
		}
	}
}

// shownProps returns the props of the interrupts, for a problem.
func shownProps(r *conformance.Run) []string {
	var out []string
	for _, d := range runindex.EventsOf[event.Interrupt](r) {
		out = append(out, runindex.Clip(string(d.Props)))
	}
	return out
}
