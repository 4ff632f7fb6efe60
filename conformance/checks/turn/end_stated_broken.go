package turn

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var countsInSeconds = broken.Adapter{
	Name: "counts-in-seconds", Sentence: "reports the duration of a turn in seconds",
	Proves: "turn.end-stated",
	Mutation: broken.Change(func(d *event.Result) {
		if d.Stats != nil {
			s := *d.Stats
			s.DurationMS /= int64(time.Second / time.Millisecond)
			d.Stats = &s
		}
	}),
}

var endsWithoutWords = broken.Adapter{
	Name: "ends-without-words", Sentence: "leaves the reason of a turn's end out",
	Proves:   "turn.end-stated",
	Mutation: broken.Change(func(d *event.Done) { d.Reason = "" }),
}

var timesNothing = broken.Adapter{
	Name: "times-nothing", Sentence: "leaves the duration and the rounds of a turn out",
	Proves:   "turn.end-stated",
	Mutation: broken.Change(func(d *event.Result) { d.Stats = nil }),
}

var namesNoClose = broken.Adapter{
	Name: "names-no-close", Sentence: "gives a turn in which the client closed the session the reason \"aborted\" instead of \"closed\"",
	Proves: "turn.end-stated",
	Mutation: broken.Change(func(d *event.Done) {
		if d.Reason == "closed" {
			d.Reason = "aborted"
		}
	}),
}
