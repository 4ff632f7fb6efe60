package time

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var countsSeconds = broken.Adapter{
	Name: "counts-seconds", Sentence: "takes ts in whole seconds",
	Proves: "time.ts",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		e.TS = e.TS.Truncate(time.Second)
		out(e)
	}),
}

var stampsWhatWaits = broken.Adapter{
	Name: "stamps-what-waits", Sentence: "takes the ts of an event again while it waits for the listener",
	Proves: "time.ts",
	Mutation: broken.Mutation{Relay: func(in <-chan event.Event, out chan<- event.Event) {
		defer close(out)
		for e := range in {
			select {
			case out <- e:
			case <-time.After(time.Second):
				e.TS = time.Now()
				out <- e
			}
		}
	}},
}
