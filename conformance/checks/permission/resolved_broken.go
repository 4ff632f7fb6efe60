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
