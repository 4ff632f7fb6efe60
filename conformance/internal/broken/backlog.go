package broken

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// slow are broken in what they do while their listener is slow.
func slow() []Adapter {
	return []Adapter{
		{
			Name: "drops-what-waits", Sentence: "drops an event that nobody takes within a second",
			Fails: []string{"time.backlog"},
			mutation: mutation{relay: func(in <-chan event.Event, out chan<- event.Event) {
				defer close(out)
				for e := range in {
					select {
					case out <- e:
					case <-time.After(time.Second):
					}
				}
			}},
		},
		{
			Name: "queues-without-bound", Sentence: "keeps all events until they are taken, however many",
			Fails: []string{"time.backlog"},
			mutation: mutation{relay: func(in <-chan event.Event, out chan<- event.Event) {
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
		},
		{
			Name: "reports-no-backlog", Sentence: "reports that nothing waits, whatever does",
			Fails:    []string{"time.backlog"},
			mutation: mutation{backlog: func() int { return 0 }},
		},
	}
}
