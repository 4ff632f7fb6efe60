package broken

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// lives are broken in what becomes of a session beyond its turns.
func lives() []Adapter {
	return []Adapter{
		{
			Name: "replays-at-a-resume", Sentence: "tells old messages again when a session is resumed",
			Fails: []string{"session.resume-no-replay"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if d, ok := e.Data.(event.SessionReady); ok && (d.Resumed || d.ForkedFrom != "") {
					e.Data = event.UserMessage{MessageID: "old", Text: "One.", Via: event.ViaTurn}
					out(e)
				}
			}),
		},
		{
			Name: "forgets-what-it-forked", Sentence: "opens a fork as a session like any other",
			Fails: []string{"session.fork-independent"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.SessionReady); ok {
					d.ForkedFrom = ""
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "loses-stderr", Sentence: "says that the runtime did not start, and not why",
			Fails: []string{"process.start-failure"},
			mutation: mutation{failed: func(err error) error {
				if typed, ok := errors.AsType[*adapters.OpenError](err); ok {
					mute := *typed
					mute.Stderr = ""
					return &mute
				}
				return err
			}},
		},
		{
			Name: "start-failure-looks-slow", Sentence: "calls each failure to open a runtime that took too long",
			Fails: []string{"process.start-failure", "turn.crash-ends"},
			mutation: mutation{failed: func(err error) error {
				if typed, ok := errors.AsType[*adapters.OpenError](err); ok {
					slow := *typed
					slow.Code = event.ErrorTimeout
					return &slow
				}
				return err
			}},
		},
		{
			Name: "untyped-refusal", Sentence: "tells in prose alone that there is no such session",
			Fails: []string{"session.resume-unknown", "turn.crash-ends", "turn.refused", "turn.stall-ends"},
			Only:  map[string]string{"turn.refused": "codex", "turn.crash-ends": "claude", "turn.stall-ends": "claude"},
			mutation: mutation{failed: func(err error) error {
				var typed *adapters.OpenError
				if errors.As(err, &typed) && typed.Op == "resume" {
					return errors.New(err.Error())
				}
				return err
			}},
		},
		{
			Name: "silent-archive", Sentence: "does not tell that a session which it put away has ended",
			Fails: []string{"session.archive-closes"}, Runtime: "codex", Why: "Claude Code has no archive",
			mutation: mutation{away: func(e event.Event, out func(event.Event)) {
				if e.Type() != event.TypeSessionEnd {
					out(e)
				}
			}},
		},
		{
			Name: "text-alone", Sentence: "passes on a message's text and not what it brings",
			Fails:    []string{"turn.files"},
			mutation: mutation{files: func([]event.Attachment) []event.Attachment { return nil }},
		},
		{
			Name: "counts-no-input", Sentence: "tells what a turn cost without what it sent",
			Fails: []string{"usage.told"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Usage); ok {
					d.Tokens.Input = 0
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "no-exit-code", Sentence: "does not tell how the runtime ended",
			Fails: []string{"process.exit-code"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.SessionEnd); ok {
					d.ExitCode = nil
					e.Data = d
				}
				out(e)
			}),
		},
	}
}
