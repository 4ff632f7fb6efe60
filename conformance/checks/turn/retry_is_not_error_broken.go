package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var givesUpAtARetry = broken.Adapter{
	Name: "gives-up-at-a-retry", Sentence: "reports a retry as an error",
	Proves: "turn.retry-is-not-error",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeRetry {
			e.Data = event.Error{Code: event.ErrorNetwork, Message: "the connection broke"}
		}
		out(e)
	}),
}
