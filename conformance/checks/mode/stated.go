package mode

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Stated is the check mode.stated.
var Stated = &conformance.Check{
	ID: "mode.stated", Source: "the event contract (adapters/event): model_changed, mode_changed", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"model_changed.value", "mode_changed", "mode_changed.value"},
	Needs:    []string{"model_changed", "mode_changed"},
	Mend:     "Compare a value with the one in force before it is reported, and emit nothing if they are equal.",
	Sentence: "model_changed and mode_changed report a change: a value other than the one in force, which the client has set or the runtime has stated. At the end of a turn the model and the mode in force are those that the runtime stated last.",
	Judge:    judgeStated,
}

func judgeStated(t *conformance.Trial, f *conformance.Finding) {
	model, mode := "", ""
	statements := runindex.StatementsOf(t.Run)
	changed := func(e conformance.Event, what, was, is string) {
		f.Asserted(1)
		known := setValues(t.Run, e, what)
		if what == "model" {
			for i := range min(e.Line, len(statements)) {
				known = append(known, statements[i].Model)
			}
		}
		switch {
		case was == is:
			f.At(e, "the %s was %q before", what, was)
		case what == "model" && !slices.Contains(known, is):
			f.At(e, "neither the client nor the runtime has named the model %q", is)
		}
	}
	for _, e := range t.Events {
		if e.SubagentID != "" {
			continue
		}
		if e.Terminal() || e.Type() == event.TypeSessionEnd {
			if stated := statedBefore(t.Run, e, statedMode); stated != "" && stated != mode && t.Supports("mode_changed") {
				f.At(e, "the runtime states the mode %q, but the events leave %q in force", stated, mode)
			}
		}
		if e.Terminal() {
			if stated := statedBefore(t.Run, e, statedModel); stated != "" && stated != model && !slices.Contains(askedModels(t.Run, e), model) {
				f.At(e, "the runtime states the model %q, but the events leave %q in force", stated, model)
			}
		}
		switch d := e.Data.(type) {
		case event.SessionReady:
			model, mode = d.Model, d.Mode
		case event.ModelChanged:
			changed(e, "model", model, d.Value)
			model = d.Value
		case event.ModeChanged:
			changed(e, "mode", mode, d.Value)
			mode = d.Value
		}
	}
}

// statedBefore returns the value that the runtime stated last before an event, for the
// session itself: sub-agents may have another one.
func statedBefore(r *conformance.Run, e conformance.Event, of func(wire.Statement) string) string {
	statements, lines := runindex.StatementsOf(r), runindex.Of(r).Lines()
	for i := min(e.Line, len(statements)) - 1; i >= 0; i-- {
		if stated := of(statements[i]); stated != "" && lines[i].Main && lines[i].Agent == "" {
			return stated
		}
	}
	return ""
}

func statedModel(s wire.Statement) string { return s.Model }
func statedMode(s wire.Statement) string  { return s.Mode }

// askedModels returns the models that the client has asked for before an event, in its own
// words, such as an alias.
func askedModels(r *conformance.Run, e conformance.Event) []string {
	out := setValues(r, e, "model")
	for _, o := range r.Opens {
		if o.Model != "" {
			out = append(out, o.Model)
		}
	}
	return out
}

// setValues returns the values that the client has set before an event.
func setValues(r *conformance.Run, e conformance.Event, what string) []string {
	var out []string
	for _, a := range r.Steps[:min(e.Steps, len(r.Steps))] {
		if a.Step.Verb == fixtures.VerbSet && a.Step.What == what {
			out = append(out, a.Step.ValueFor(r.Runtime, r.Version))
		}
	}
	return out
}
