package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var retriesInSilence = broken.Adapter{
	Name: "retries-in-silence", Sentence: "does not report that the runtime asks the model again",
	Proves: "turn.notices",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Notice); !ok || d.Code != event.NoticeRetry {
			out(e)
		}
	}),
}
