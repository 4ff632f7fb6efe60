package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var beginsTwice = broken.Adapter{
	Name: "begins-twice", Sentence: "emits turn_start twice",
	Proves: "turn.begins-once",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeTurnStart {
			out(e)
		}
	}),
}

var beginsInSilence = broken.Adapter{
	Name: "begins-in-silence", Sentence: "emits no turn_start for a turn after the first",
	Proves: "turn.begins-once",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeTurnStart || e.Turn == 1 {
			out(e)
		}
	}),
}
