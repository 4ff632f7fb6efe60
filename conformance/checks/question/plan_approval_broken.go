package question

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var asksWithoutThePlan = broken.Adapter{
	Name: "asks-without-the-plan", Sentence: "asks the user to approve a plan without its text",
	Proves: "question.plan-approval", Runtime: "claude", Why: "Codex does not ask the user to approve a plan",
	Mutation: broken.Change(func(d *event.Interrupt) {
		if d.ComponentName == "ExitPlanMode" {
			d.Props = event.Raw("{}")
		}
	}),
}
