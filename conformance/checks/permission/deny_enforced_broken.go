package permission

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var allowsEverything = broken.Adapter{
	Name: "allows-everything", Sentence: "sends allow whatever the user answered",
	Proves: "permission.deny-enforced",
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) {
		if a.Decision != "" {
			a.Decision = event.DecisionAllow
		}
	}},
}

var setsSomethingElse = broken.Adapter{
	Name: "sets-something-else", Sentence: "sets another mode than the given one",
	Proves:   "permission.deny-enforced",
	Mutation: broken.Mutation{SetMode: func(string) (string, error) { return adapters.ModePlan, nil }},
}

var deniesWithoutAWord = broken.Adapter{
	Name: "denies-without-a-word", Sentence: "denies without the words of the user",
	Proves:  "permission.deny-enforced",
	Runtime: "claude", Why: "a decision of Codex has no place for words",
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) { a.Message = "" }},
}
