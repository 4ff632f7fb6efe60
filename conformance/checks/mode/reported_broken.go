package mode

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var changesInSilence = broken.Adapter{
	Name: "changes-in-silence", Sentence: "does not report that the model or the mode has changed",
	Fails: []string{"mode.reported"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeModelChanged && e.Type() != event.TypeModeChanged {
			out(e)
		}
	}),
}
