package wire

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var diesOfGarbage = broken.Adapter{
	Name: "dies-of-garbage", Sentence: "ends the turn at a line that is no message",
	Proves: "wire.garbage",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeGarbage {
			e.Data = event.Error{Code: event.ErrorProtocol, Message: "not JSON"}
		}
		out(e)
	}),
}
