package permission

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var keepsAsking = broken.Adapter{
	Name: "keeps-asking", Sentence: "does not report that the runtime took a question back",
	Proves: "permission.withdrawn",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		switch d := e.Data.(type) {
		case event.PermissionResolved:
			if d.By == event.ByWithdrawn {
				return
			}
		case event.InterruptResolved:
			if d.By == event.ByWithdrawn {
				return
			}
		}
		out(e)
	}),
}
