package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var crashesAtClose = broken.Adapter{
	Name: "crashes-at-close", Sentence: "reports a session that the client closed as crashed",
	Fails: []string{"session.end-reason"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.SessionEnd); ok && d.Reason == "closed" {
			d.Reason = "crashed"
			e.Data = d
		}
		out(e)
	}),
}
