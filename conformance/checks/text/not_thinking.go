package text

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// NotThinking is the check text.not-thinking.
var NotThinking = &conformance.Check{
	ID: "text.not-thinking", Source: "chats that show reasoning as the answer", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"delta", "thinking"},
	Mend:     "Look at the type of each delta: text becomes delta, thinking or reasoning becomes thinking.",
	Sentence: "No reasoning leaks into text, no text into thinking.",
	Judge:    judgeLeaks,
}

func judgeLeaks(t *conformance.Trial, f *conformance.Finding) {
	var text, thoughts strings.Builder
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.Delta:
			text.WriteString(d.Text)
		case event.Thinking:
			thoughts.WriteString(d.Text)
		}
	}
	for _, q := range t.Witness {
		for _, s := range q.Output {
			if s.Think != "" {
				f.Asserted(1)
				if strings.Contains(text.String(), s.Think) {
					f.Failf("the reasoning %q is emitted as text", runindex.Clip(s.Think))
				}
			}
			if f.Assertions > 0 && len(s.Text) > 0 && strings.Contains(thoughts.String(), s.Text) {
				f.Failf("the text %q is emitted as reasoning", runindex.Clip(s.Text))
			}
		}
	}
}
