package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var waitsForASkippedEnd = broken.Adapter{
	Name: "waits-for-a-skipped-end", Sentence: "skips the line that ends a turn because it is too long, and waits for the end",
	Proves: "turn.long-end",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		skipped := false
		return func(e event.Event, out func(event.Event)) {
			switch d := e.Data.(type) {
			case event.Notice:
				skipped = skipped || d.Code == event.NoticeLongLine
			case event.Error:
				if skipped && d.Code == event.ErrorProtocol && e.Turn > 0 {
					return
				}
			}
			out(e)
		}
	}},
}
