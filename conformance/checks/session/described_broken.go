package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheSource = broken.Adapter{
	Name: "forgets-the-source", Sentence: "reports a fork or a resumed session as a new one",
	Proves: "session.described",
	Mutation: eachReady(func(d *event.SessionReady) {
		d.Resumed, d.ForkedFrom = false, ""
	}),
}

var namesNoModel = broken.Adapter{
	Name: "names-no-model", Sentence: "reports \"default\" as the model of each session",
	Proves:   "session.described",
	Mutation: eachReady(func(d *event.SessionReady) { d.Model = "default" }),
}

func eachReady(f func(d *event.SessionReady)) broken.Mutation {
	return broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.SessionReady); ok {
			f(&d)
			e.Data = d
		}
		out(e)
	})
}
