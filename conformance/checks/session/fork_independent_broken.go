package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsWhatItForked = broken.Adapter{
	Name: "forgets-what-it-forked", Sentence: "reports a fork as a new session",
	Proves:   "session.fork-independent",
	Mutation: broken.Change(func(d *event.SessionReady) { d.ForkedFrom = "" }),
}

var forksByResuming = broken.Adapter{
	Name: "forks-by-resuming", Sentence: "resumes a session instead of forking it",
	Proves:   "session.fork-independent",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Fork, o.At = false, "" }),
}
