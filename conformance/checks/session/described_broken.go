package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheSource = broken.Adapter{
	Name: "forgets-the-source", Sentence: "reports a fork or a resumed session as a new one",
	Proves: "session.described",
	Mutation: broken.Change(func(d *event.SessionReady) {
		d.Resumed, d.ForkedFrom = false, ""
	}),
}

var namesNoModel = broken.Adapter{
	Name: "names-no-model", Sentence: "reports \"default\" as the model of each session",
	Proves:   "session.described",
	Mutation: broken.Change(func(d *event.SessionReady) { d.Model = "default" }),
}

var describesNothing = broken.Adapter{
	Name: "describes-nothing", Sentence: "leaves the version, the model, the folder and the mode out of session_ready",
	Proves: "session.described",
	Mutation: broken.Change(func(d *event.SessionReady) {
		d.RuntimeVersion, d.Model, d.Cwd, d.Mode = "", "", "", ""
	}),
}
