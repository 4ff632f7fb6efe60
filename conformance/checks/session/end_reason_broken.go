package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var claimsToBeClosed = broken.Adapter{
	Name: "claims-to-be-closed", Sentence: "reports a session that ended by itself as closed by the client",
	Fails: []string{"session.end-reason"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.SessionEnd); ok {
			d.Reason = "closed"
			e.Data = d
		}
		out(e)
	}),
}
