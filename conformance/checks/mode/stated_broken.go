package mode

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var changesTwice = broken.Adapter{
	Name: "changes-twice", Sentence: "reports each change of model or mode twice",
	Proves: "mode.stated",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeModelChanged || e.Type() == event.TypeModeChanged {
			out(e)
		}
	}),
}

var keepsTheFirstModel = broken.Adapter{
	Name: "keeps-the-first-model", Sentence: "does not report the model that the runtime states",
	Proves: "mode.stated",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeModelChanged {
			out(e)
		}
	}),
}
