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

var keepsTheMode = broken.Adapter{
	Name: "keeps-the-mode", Sentence: "does not report a mode that the runtime enters in a turn",
	Proves:  "mode.stated",
	Runtime: "claude", Why: "Codex changes no mode by itself",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		open := false
		return func(e event.Event, out func(event.Event)) {
			open = (open || e.Type() == event.TypeTurnStart) && !e.Terminal()
			if !open || e.Type() != event.TypeModeChanged {
				out(e)
			}
		}
	}},
}
