package mode

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Reported is the check mode.reported.
var Reported = &conformance.Check{
	ID: "mode.reported", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"mode_changed", "mode_changed.value", "model_changed", "model_changed.value"},
	Aliases:  []string{"mode.told"},
	Needs:    []string{"mode_changed"},
	Mend:     "Emit model_changed or mode_changed after the runtime has accepted the change, with the value that it confirms. Return its error if it rejects the change.",
	Sentence: "A change of model or mode is reported, with its value, when it takes effect. If the runtime rejects it, the call returns an error and no event reports it.",
	Judge:    judgeReported,
}

func judgeReported(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbSet {
			continue
		}
		f.Asserted(1)
		value := a.Step.ValueFor(t.Runtime, t.Version)
		reported := false
		for _, e := range t.Events {
			changed, ok := changedValue(e.Data, a.Step.What)
			if !ok || e.Steps <= i {
				continue
			}
			// Live, no line of the runtime says which model an alias such as sonnet is.
			named := a.Step.What == "model" && (t.Tier == conformance.TierLive || slices.Contains(models(t.Run), changed))
			reported = reported || changed == value || named || a.Step.Refused
		}
		switch {
		case a.Step.Refused && a.Err == nil:
			f.Failf("set %s %s was rejected by the runtime, but the subject returned no error", a.Step.What, value)
		case a.Step.Refused && reported:
			f.Failf("set %s %s was rejected by the runtime, but an event reports the change", a.Step.What, value)
		case !a.Step.Refused && a.Err != nil:
			f.Failf("set %s %s: %v", a.Step.What, value, a.Err)
		case !a.Step.Refused && !reported && !turnAfter(t.Steps[i:]):
			// The session was closed before the change could take effect.
		case !a.Step.Refused && !reported:
			f.Failf("set %s %s: no event reports the change", a.Step.What, value)
		}
	}
}

// changedValue returns the value of an event that reports a change of model or mode.
func changedValue(d event.Data, what string) (value string, ok bool) {
	switch d := d.(type) {
	case event.ModelChanged:
		return d.Value, what == "model"
	case event.ModeChanged:
		return d.Value, what == "mode"
	}
	return "", false
}

// models returns the models that the runtime states: the full names of those that the
// client asks for.
func models(r *conformance.Run) []string {
	var out []string
	for _, s := range runindex.StatementsOf(r) {
		if s.Model != "" {
			out = append(out, s.Model)
		}
	}
	return out
}

// turnAfter reports whether a message is sent after the first of the steps.
func turnAfter(steps []conformance.StepResult) bool {
	return slices.ContainsFunc(steps, func(a conformance.StepResult) bool { return a.Step.SendsMessage() })
}
