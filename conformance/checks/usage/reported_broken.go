package usage

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var countsNoInput = broken.Adapter{
	Name: "counts-no-input", Sentence: "reports usage without input tokens",
	Proves:   "usage.reported",
	Mutation: broken.Change(func(d *event.Usage) { d.Tokens.Input = 0 }),
}

var namesAnotherScope = broken.Adapter{
	Name: "names-another-scope", Sentence: "reports the tokens of a turn as those of the session, and the other way round",
	Proves: "usage.reported",
	Mutation: broken.Change(func(d *event.Usage) {
		if d.Scope == event.ScopeTurn {
			d.Scope = event.ScopeSession
		} else {
			d.Scope = event.ScopeTurn
		}
	}),
}
