package mode

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// Reported is the check mode.reported.
var Reported = &conformance.Check{
	ID: "mode.reported", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"mode_changed", "model_changed"},
	Aliases:  []string{"mode.told"},
	Needs:    []string{"mode_changed"},
	Sentence: "A change of model or mode is reported when it takes effect. If the runtime rejects it, the call returns an error and no event reports it.",
	Judge:    judgeReported,
}

func judgeReported(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbSet {
			continue
		}
		f.Asserted(1)
		told := false
		for _, e := range t.Events {
			if e.Steps > i && (a.Step.What == "model" && e.Type() == event.TypeModelChanged || a.Step.What == "mode" && e.Type() == event.TypeModeChanged) {
				told = true
			}
		}
		switch {
		case a.Step.Refused && a.Err == nil:
			f.Failf("set %s %s was rejected by the runtime, but the subject returned no error", a.Step.What, a.Step.Text)
		case a.Step.Refused && told:
			f.Failf("set %s %s was rejected by the runtime, but an event reports the change", a.Step.What, a.Step.Text)
		case !a.Step.Refused && a.Err != nil:
			f.Failf("set %s %s: %v", a.Step.What, a.Step.Text, a.Err)
		case !a.Step.Refused && !told:
			f.Failf("set %s %s: no event reports the change", a.Step.What, a.Step.Text)
		}
	}
}
