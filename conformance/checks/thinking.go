package checks

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

func thinkingChecks() []*conformance.Check {
	return []*conformance.Check{{
		ID: "thinking.delivered", Severity: conformance.Must, Source: "adapters that listened to reasoning/textDelta, which the wire calls item/reasoning/textDelta", Tiers: both,
		Sentence: "The model's visible reasoning is delivered, once, in order.",
		Judge: func(t *conformance.Trial, f *conformance.Finding) {
			var want, got strings.Builder
			reqs := mainRequests(t.Run)
			for i, q := range reqs {
				for j, s := range q.Said {
					if s.Think != "" && (!abandoned(reqs, i) || !broken(q, j)) {
						f.Asserted(1)
						want.WriteString(s.Think)
					}
				}
			}
			back := map[string]bool{}
			for _, e := range t.Events {
				if d, ok := e.Data.(event.BlockEnd); ok && d.Status == event.BlockRetracted {
					back[d.BlockID] = true
				}
			}
			for _, e := range t.Events {
				if d, ok := e.Data.(event.Thinking); ok && e.SubagentID == "" && !back[d.BlockID] {
					got.WriteString(d.Text)
				}
			}
			if f.Assertions > 0 && got.String() != want.String() {
				f.Diff("the reasoning is not what the model said", want.String()+"\n", got.String()+"\n")
			}
		},
	}}
}
