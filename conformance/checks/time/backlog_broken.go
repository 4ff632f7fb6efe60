package time

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var dropsWhatWaits = broken.Adapter{
	Name: "drops-what-waits", Sentence: "drops an event that the listener does not take within a second",
	Proves: "time.backlog",
	Mutation: broken.Mutation{Relay: func(in <-chan event.Event, out chan<- event.Event) {
		defer close(out)
		for e := range in {
			select {
			case out <- e:
			case <-time.After(time.Second):
			}
		}
	}},
}

var queuesWithoutBound = broken.Adapter{
	Name: "queues-without-bound", Sentence: "queues events without a bound",
	Proves: "time.backlog",
	Mutation: broken.Mutation{Relay: func(in <-chan event.Event, out chan<- event.Event) {
		defer close(out)
		for queue := []event.Event(nil); in != nil || len(queue) > 0; {
			head, to := event.Event{}, (chan<- event.Event)(nil)
			if len(queue) > 0 {
				head, to = queue[0], out
			}
			select {
			case e, ok := <-in:
				if queue = append(queue, e); !ok {
					queue, in = queue[:len(queue)-1], nil
				}
			case to <- head:
				queue = queue[1:]
			}
		}
	}},
}

var reportsNoBacklog = broken.Adapter{
	Name: "reports-no-backlog", Sentence: "reports an empty backlog whatever is queued",
	Proves:   "time.backlog",
	Mutation: broken.Mutation{Depth: func() int { return 0 }},
}
