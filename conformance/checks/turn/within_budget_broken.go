package turn

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var neverStops = broken.Adapter{
	Name: "never-stops", Sentence: "emits a notice without end when a session that was compacted ends",
	Proves: "turn.within-budget",
	Mutation: afterCompaction(func(e event.Event, out func(event.Event)) {
		for {
			out(e)
		}
	}),
}

var repeatsMegabytes = broken.Adapter{
	Name: "repeats-megabytes", Sentence: "emits fifty notices of a megabyte when a session that was compacted ends",
	Proves: "turn.within-budget",
	Mutation: afterCompaction(func(e event.Event, out func(event.Event)) {
		e.Data = event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: strings.Repeat("x", 1<<20)}
		for range 50 {
			out(e)
		}
	}),
}

// afterCompaction returns a mutation of the end of a session that was compacted: few runs take the
// time that it costs. f gets a notice.
func afterCompaction(f func(notice event.Event, out func(event.Event))) broken.Mutation {
	return broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		compacted := false
		return func(e event.Event, out func(event.Event)) {
			compacted = compacted || e.Type() == event.TypeCompaction
			if e.Type() == event.TypeSessionEnd && compacted {
				n := e
				n.Data = event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: "again"}
				f(n, out)
			}
			out(e)
		}
	}}
}
