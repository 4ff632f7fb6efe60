package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var talksBeforeReady = broken.Adapter{
	Name: "talks-before-ready", Sentence: "emits a notice before session_ready",
	Proves: "session.ready-first",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() == event.TypeSessionReady {
			out(event.Event{Data: event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning, Text: "starting"}, TS: e.TS, SessionID: e.SessionID})
		}
		out(e)
	}),
}

var talksAfterTheSession = broken.Adapter{
	Name: "talks-after-the-session", Sentence: "emits a notice after session_end",
	Proves: "session.ready-first",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeSessionEnd {
			out(event.Event{Data: event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning, Text: "bye"}, TS: e.TS, SessionID: e.SessionID})
		}
	}),
}
