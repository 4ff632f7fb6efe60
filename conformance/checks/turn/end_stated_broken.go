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

var endsWithoutWords = broken.Adapter{
	Name: "ends-without-words", Sentence: "leaves the reason of a turn's end out",
	Proves: "turn.end-stated",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); ok {
			d.Reason = ""
			e.Data = d
		}
		out(e)
	}),
}

var timesNothing = broken.Adapter{
	Name: "times-nothing", Sentence: "leaves the duration and the rounds of a turn out",
	Proves: "turn.end-stated",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Result); ok {
			d.Stats = nil
			e.Data = d
		}
		out(e)
	}),
}

var namesNoClose = broken.Adapter{
	Name: "names-no-close", Sentence: "gives a turn in which the client closed the session the reason \"aborted\" instead of \"closed\"",
	Proves: "turn.end-stated",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); ok && d.Reason == "closed" {
			d.Reason = "aborted"
			e.Data = d
		}
		out(e)
	}),
}
