package permission

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var allowsEverything = broken.Adapter{
	Name: "allows-everything", Sentence: "sends allow whatever the user answered",
	Fails: []string{"permission.deny-enforced", "permission.resolved", "wire.valid-input"},
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) {
		if a.Decision != "" {
			a.Decision = event.DecisionAllow
		}
	}},
}

var setsSomethingElse = broken.Adapter{
	Name: "sets-something-else", Sentence: "sets another mode than the given one",
	Fails: []string{"mode.reported", "permission.answered-once", "permission.deny-enforced", "permission.resolved", "session.call-results", "session.open-options", "text.once", "tool.known"},
	Only: map[string]string{"mode.reported": "claude", // Claude Code takes any mode at any time
		"permission.deny-enforced": "claude", "permission.resolved": "claude", "session.call-results": "claude", "text.once": "claude", "tool.known": "claude",
	},
	Mutation: broken.Mutation{SetMode: func(string) (string, error) { return adapters.ModePlan, nil }},
}

var deniesWithoutAWord = broken.Adapter{
	Name: "denies-without-a-word", Sentence: "denies without the words of the user",
	Fails:   []string{"permission.deny-enforced"},
	Runtime: "claude", Why: "a decision of Codex has no place for words",
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) { a.Message = "" }},
}
