package order

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var countsPerTurn = broken.Adapter{
	Name: "counts-per-turn", Sentence: "restarts seq in each turn",
	Proves: "order.seq",
	Mutation: broken.Mutation{KeepSeq: true, Events: func() func(event.Event, func(event.Event)) {
		var turn int
		var seq int64
		return func(e event.Event, out func(event.Event)) {
			if e.Turn != turn {
				turn, seq = e.Turn, 0
			}
			seq++
			e.Seq = seq
			out(e)
		}
	}},
}
