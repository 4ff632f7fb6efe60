package broken

import (
	"errors"
	"time"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/adapters/event"
)

// isCrash reports whether an event tells that the runtime died.
func isCrash(e event.Event) bool {
	d, ok := e.Data.(event.Error)
	return ok && d.Code == event.ErrorCrash
}

// crashes are broken in what they make of a dead runtime.
func crashes() []Adapter {
	late := perform.EndLimit + time.Second
	return []Adapter{
		{
			Name: "finishes-at-a-crash", Sentence: "ends the turn like a finished one when the runtime dies",
			Fails: []string{"turn.crash-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if isCrash(e) {
					e.Data = event.Done{}
				}
				out(e)
			}),
		},
		{
			Name: "crash-without-its-code", Sentence: "calls each end of the runtime unknown",
			Fails: []string{"turn.crash-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if isCrash(e) {
					e.Data = event.Error{Code: event.ErrorUnknown, Message: "something went wrong"}
				}
				out(e)
			}),
		},
		{
			Name: "takes-text-back-at-a-crash", Sentence: "takes the last of the text back when the runtime dies",
			Fails: []string{"turn.crash-ends"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				block := ""
				return func(e event.Event, out func(event.Event)) {
					if d, ok := e.Data.(event.Delta); ok {
						block = d.BlockID
					}
					if isCrash(e) {
						out(event.Event{Data: event.BlockEnd{BlockID: block, Status: event.BlockRetracted}, TS: e.TS, SessionID: e.SessionID, Turn: e.Turn})
					}
					out(e)
				}
			}},
		},
		{
			Name: "tells-a-crash-late", Sentence: "waits a while before it tells that the runtime died",
			Fails: []string{"turn.crash-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if isCrash(e) {
					time.Sleep(late)
				}
				out(e)
			}),
		},
		{
			Name: "talks-after-the-session", Sentence: "tells its farewell when the session is over",
			Fails: []string{"session.archive-closes", "session.ready-first", "turn.crash-ends"},
			Only:  map[string]string{"session.archive-closes": "codex"}, // Claude Code has no archive
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if e.Type() == event.TypeSessionEnd {
					out(event.Event{Data: event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning, Text: "bye"}, TS: e.TS, SessionID: e.SessionID})
				}
			}),
		},
		{
			Name: "leaves-text-open-at-a-crash", Sentence: "does not close the text that was being said when the runtime died",
			Fails: []string{"turn.crash-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.BlockEnd); !ok || d.Status != event.BlockInterrupted {
					out(e)
				}
			}),
		},
		{
			Name: "untyped-start-failure", Sentence: "tells in prose alone why the session did not open",
			Fails:    []string{"process.start-failure", "session.resume-unknown", "turn.crash-ends", "turn.refused", "turn.stall-ends"},
			mutation: mutation{failed: func(err error) error { return errors.New(err.Error()) }},
		},
	}
}
