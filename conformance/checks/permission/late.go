package permission

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Late is the check permission.late.
var Late = &conformance.Check{
	ID: "permission.late", Source: "OpenMausBot#858", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Look the question up before an answer is written. If it is no longer open, return an error and write nothing.",
	Sentence:      "An answer to a question that is no longer open allows nothing.",
	JudgesWritten: true,
	Judge:         judgeLate,
}

// judgeLate judges scenarios in which the user allows only what is no longer open.
func judgeLate(t *conformance.Trial, f *conformance.Finding) {
	late := 0
	for _, a := range t.Scenario.Client {
		switch {
		case a.Verb == fixtures.VerbAnswer && a.Late && a.Allows():
			late++
		case a.Allows():
			return
		}
	}
	if late == 0 {
		return
	}
	f.Asserted(late)
	f.Sent = t.Tier != conformance.TierLive
	for _, w := range t.ClientActions {
		if w.Kind == standin.KindAnswer && w.Answer == standin.Allow {
			f.Failf("question %s was no longer open, but the subject sent allow", w.RequestID)
		}
	}
	for e, d := range runindex.EventsOf[event.PermissionResolved](t.Run) {
		if d.Allowed {
			f.At(e, "question %s was no longer open, but the event holds allowed", d.RequestID)
		}
	}
	if t.Tier == conformance.TierLive {
		untouched(t, f)
	}
}

// untouched demands that the files of the scenario are unchanged.
func untouched(t *conformance.Trial, f *conformance.Finding) {
	for path, want := range t.Scenario.Workspace {
		if got, there := t.Workspace[path]; !there || string(got) != string(want) {
			f.Failf("the file %s has changed, although nothing was allowed", path)
		}
	}
}
