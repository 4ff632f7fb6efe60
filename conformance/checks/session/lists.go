package session

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Lists is the check session.lists.
var Lists = &conformance.Check{
	ID: "session.lists", Source: "pickers that offer a model twice, and pass its title on", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend: "Return each entry of the runtime's list once, by the id that the runtime takes for it (of a model the value that choosing it takes), " +
		"and the state of an MCP server as the runtime words it.",
	Sentence: "A list has each entry that the runtime reports, once, by the id that the runtime takes, and nothing else. The MCP servers and the sessions that there are are in their list.",
	Judge:    judgeLists,
}

// judgeLists compares each list with the runtime's, and with what is known without it.
func judgeLists(t *conformance.Trial, f *conformance.Finding) {
	for _, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbList || a.Err != nil {
			continue
		}
		f.Asserted(1)
		ids := map[string]int{}
		for _, e := range a.Listed {
			ids[t.Recorded(e.ID)]++
		}
		judgeKnown(t, f, a)
		for _, e := range a.Listed {
			if id := t.Recorded(e.ID); ids[id] > 1 {
				f.Failf("list %s: %q is listed %d times", a.Step.What, id, ids[id])
				ids[id] = 1
			}
		}
		want, ok := runindex.RecordedList(t.Run, a.Step.What)
		if !ok {
			continue
		}
		for _, e := range want.Entries {
			f.Asserted(1)
			if ids[e.ID] == 0 {
				f.Failf("list %s: %q is missing, which the runtime lists", a.Step.What, e.ID)
			}
		}
		for _, e := range a.Listed {
			judgeEntry(t, f, a.Step.What, e, want)
		}
	}
}

// judgeEntry judges an entry by the runtime's list.
func judgeEntry(t *conformance.Trial, f *conformance.Finding, list string, e adapters.Listed, want wire.Listing) {
	id := t.Recorded(e.ID)
	at := slices.IndexFunc(want.Entries, func(x wire.ListEntry) bool { return x.ID == id })
	switch {
	case at < 0:
		f.Failf("list %s: the runtime does not list %q", list, id)
	case want.Entries[at].Status != "" && want.Entries[at].Status != e.Status:
		f.Failf("list %s: the state of %q is %q, but the runtime reports %q", list, id, e.Status, want.Entries[at].Status)
	}
}

// judgeKnown judges that a list has the servers of the scenario and the open session.
func judgeKnown(t *conformance.Trial, f *conformance.Finding, a conformance.StepResult) {
	var known []string
	switch a.Step.What {
	case string(adapters.ListMCP):
		for _, s := range t.Scenario.Servers {
			known = append(known, s.Name)
		}
	case string(adapters.ListSessions):
		for _, o := range t.Opens {
			if o.Provider != "" && o.Err == nil {
				known = append(known, o.Provider)
			}
		}
	}
	for _, id := range known {
		f.Asserted(1)
		if !slices.ContainsFunc(a.Listed, func(e adapters.Listed) bool { return e.ID == id }) {
			f.Failf("list %s: %q is missing from %s", a.Step.What, t.Recorded(id), idsOf(a.Listed))
		}
	}
}

// idsOf writes the ids of a list for a failure.
func idsOf(list []adapters.Listed) string {
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return "[" + strings.Join(ids, ", ") + "]"
}
