package permission

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var blamesARule = broken.Adapter{
	Name: "blames-a-rule", Sentence: "reports a decision of the user as one of a rule",
	Proves: "permission.resolved",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		switch d := e.Data.(type) {
		case event.PermissionResolved:
			d.By = event.ByPolicy
			e.Data = d
		case event.InterruptResolved:
			d.By = event.ByPolicy
			e.Data = d
		}
		out(e)
	}),
}

var answersAllWithAllow = broken.Adapter{
	Name: "answers-all-with-allow", Sentence: "reports each value that the user gave as \"allow\"",
	Proves: "permission.resolved",
	Mutation: broken.Change(func(d *event.InterruptResolved) {
		if d.By == event.ByUser {
			d.Value = event.Raw(`"allow"`)
		}
	}),
}
