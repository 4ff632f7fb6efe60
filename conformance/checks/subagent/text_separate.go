package subagent

import (
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// TextSeparate is the check subagent.text-separate.
var TextSeparate = &conformance.Check{
	ID: "subagent.text-separate", Source: "chats that flatten sub-agents", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"subagent_id"},
	Aliases:  []string{"subagent.text-apart"},
	Needs:    []string{"subagent_id"},
	Mend:     "Set subagent_id on the text of a sub-agent, and keep its blocks apart from those of the parent.",
	Sentence: "A sub-agent's text is not part of the parent's.",
	Judge:    judgeTextSeparate,
}

func judgeTextSeparate(t *conformance.Trial, f *conformance.Finding) {
	text := runindex.Of(t.Run).VisibleText()
	for _, agent := range runindex.Subagents(t.Run) {
		for _, q := range t.Witness {
			for _, s := range q.Output {
				if q.Agent != agent || len(s.Text) < 8 || strings.Contains(runindex.ExpectedText(t.Run, text), s.Text) {
					continue
				}
				f.Asserted(1)
				if strings.Contains(text, s.Text) {
					f.Failf("%s wrote %q, and the parent's text holds it", agent, runindex.Clip(s.Text))
				}
			}
		}
	}
}
