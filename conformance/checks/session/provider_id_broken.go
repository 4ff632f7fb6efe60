package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var ownIDForTheRuntimes = broken.Adapter{
	Name: "own-id-for-the-runtimes", Sentence: "reports its own id as the runtime's",
	Proves: "session.provider-id",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.SessionReady); ok {
			d.ProviderSessionID = e.SessionID
			e.Data = d
		}
		out(e)
	}),
}
