package turn

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var countsInSeconds = broken.Adapter{
	Name: "counts-in-seconds", Sentence: "reports the duration of a turn in seconds",
	Proves: "turn.end-stated",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Result); ok && d.Stats != nil {
			s := *d.Stats
			s.DurationMS /= int64(time.Second / time.Millisecond)
			d.Stats = &s
			e.Data = d
		}
		out(e)
	}),
}
