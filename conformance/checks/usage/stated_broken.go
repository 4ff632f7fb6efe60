package usage

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var roundsTheCost = broken.Adapter{
	Name: "rounds-the-cost", Sentence: "reports the cost of a session in whole cents",
	Proves: "usage.stated", Runtime: "claude", Why: "Codex states no cost",
	Mutation: broken.Change(func(d *event.Usage) {
		if d.Cost != nil {
			cents := float64(int(*d.Cost * 100))
			d.Cost = &cents
		}
	}),
}

var guessesTheWindow = broken.Adapter{
	Name: "guesses-the-window", Sentence: "takes each context window for one of 128,000 tokens",
	Proves: "usage.stated",
	Mutation: broken.Change(func(d *event.Usage) {
		if d.Context != nil {
			d.Context = &event.Context{Used: d.Context.Used, Window: 128_000}
		}
	}),
}

var countsNothing = broken.Adapter{
	Name: "counts-nothing", Sentence: "reports a usage of no tokens",
	Proves:   "usage.stated",
	Mutation: broken.Change(func(d *event.Usage) { d.Tokens = event.Tokens{} }),
}

var leavesOutTheCost = broken.Adapter{
	Name: "leaves-out-the-cost", Sentence: "reports no cost",
	Proves: "usage.stated", Runtime: "claude", Why: "Codex states no cost",
	Mutation: broken.Change(func(d *event.Usage) { d.Cost = nil }),
}

var leavesOutTheContext = broken.Adapter{
	Name: "leaves-out-the-context", Sentence: "reports usage without the context",
	Proves:   "usage.stated",
	Mutation: broken.Change(func(d *event.Usage) { d.Context = nil }),
}

var countsNoTotal = broken.Adapter{
	Name: "counts-no-total", Sentence: "reports a usage without the total that the runtime states",
	Proves:   "usage.stated",
	Mutation: broken.Change(func(d *event.Usage) { d.Tokens.Total = 0 }),
}

var countsWithoutAScope = broken.Adapter{
	Name: "counts-without-a-scope", Sentence: "does not say what the tokens of a usage count",
	Proves: "usage.stated", Mutation: broken.Omit("usage.scope"),
}
