package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var replaysAtAResume = broken.Adapter{
	Name: "replays-at-a-resume", Sentence: "repeats old messages when a session is resumed",
	Proves: "session.resume-no-replay",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if d, ok := e.Data.(event.SessionReady); ok && (d.Resumed || d.ForkedFrom != "") {
			e.Data = event.UserMessage{MessageID: "old", Text: "One.", Via: event.ViaTurn}
			out(e)
		}
	}),
}
