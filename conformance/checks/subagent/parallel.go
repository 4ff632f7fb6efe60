package subagent

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Parallel is the check subagent.parallel.
var Parallel = &conformance.Check{
	ID: "subagent.parallel", Source: "wire/codex: item ids are the provider's and not unique across threads", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"subagent_id"},
	Needs:    []string{"subagent_id"},
	Mend:     "Keep the state of messages and blocks for each sub-agent, under its id together with the item id.",
	Sentence: "The text of each sub-agent is complete under its own subagent_id, also if two run at once with equal item ids.",
	Judge:    judgeSubagentText,
}

// saidBy returns the text that the events must hold for a sub-agent, and whether its
// end may be missing.
func saidBy(r *conformance.Run, agent string) (text string, cut bool) {
	var b strings.Builder
	for i, q := range r.Witness {
		if q.Agent != agent || q.Ended == fixtures.EndedFailed || abandonedBy(r.Witness, i) {
			continue
		}
		for _, s := range q.Output {
			b.WriteString(s.Text)
		}
		cut = cut || q.Ended != fixtures.EndedComplete
	}
	return b.String(), cut
}

// abandonedBy reports whether the request was repeated by the same agent.
func abandonedBy(reqs []fixtures.Request, i int) bool {
	for _, q := range reqs[i+1:] {
		if q.Agent == reqs[i].Agent {
			return reqs[i].Ended == fixtures.EndedCut && slices.Contains(q.New, "retry")
		}
	}
	return false
}

// textByAgent returns the text of each sub-agent that stays.
func textByAgent(r *conformance.Run) map[string]string {
	texts := map[string]string{}
	type block struct{ session, sub, id string }
	var order []block
	of := map[block]string{}
	for _, e := range r.Events {
		if e.SubagentID == "" {
			continue
		}
		switch d := e.Data.(type) {
		case event.Delta:
			k := block{e.SessionID, e.SubagentID, d.BlockID}
			if _, known := of[k]; !known {
				order = append(order, k)
			}
			of[k] += d.Text
		case event.BlockEnd:
			switch k := (block{e.SessionID, e.SubagentID, d.BlockID}); d.Status {
			case event.BlockReplaced:
				of[k] = d.Text
			case event.BlockRetracted:
				of[k] = ""
			}
		}
	}
	for _, k := range order {
		texts[k.sub] += of[k]
	}
	return texts
}

// hidesText reports whether the wire does not hold the text of a sub-agent in the
// foreground.
func hidesText(r *conformance.Run) bool {
	return runindex.RecordedShows(r, func(l *wire.Line) bool { return l.HidesSubagents })
}

func judgeSubagentText(t *conformance.Trial, f *conformance.Finding) {
	texts := textByAgent(t.Run)
	taken := map[string]string{} // subagent_id → the agent whose text it holds
	for _, agent := range runindex.Subagents(t.Run) {
		want, cut := saidBy(t.Run, agent)
		if want == "" || hidesText(t.Run) {
			continue
		}
		f.Asserted(1)
		found := ""
		for id, got := range texts {
			if taken[id] == "" && (got == want || cut && got != "" && strings.HasPrefix(want, got)) {
				found = id
			}
		}
		if found == "" && !cut {
			f.Failf("no subagent_id has the text of %s, %q; there are %q", agent, want, texts)
		}
		taken[found] = agent
	}
}
