package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsWhatItForked = broken.Adapter{
	Name: "forgets-what-it-forked", Sentence: "reports a fork as a new session",
	Fails: []string{"session.described", "session.fork-independent"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.SessionReady); ok {
			d.ForkedFrom = ""
			e.Data = d
		}
		out(e)
	}),
}

var forksByResuming = broken.Adapter{
	Name: "forks-by-resuming", Sentence: "resumes a session instead of forking it",
	Fails:    []string{"session.described", "session.fork-independent", "session.open-options", "session.provider-id", "session.resume-context"},
	Only:     map[string]string{"session.described": "claude", "session.fork-independent": "claude", "session.provider-id": "claude", "session.resume-context": "codex"}, // an option of Claude Code; Codex has a separate request
	Mutation: broken.Opening(func(o *conformance.Open) { o.Fork, o.At = false, "" }),
}
