package mode

import (
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var changesInSilence = broken.Adapter{
	Name: "changes-in-silence", Sentence: "does not report that the model or the mode has changed",
	Proves: "mode.reported",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeModelChanged && e.Type() != event.TypeModeChanged {
			out(e)
		}
	}),
}

var changesToDefault = broken.Adapter{
	Name: "changes-to-default", Sentence: "reports each new model and mode as \"default\"",
	Proves: "mode.reported",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		switch e.Type() {
		case event.TypeModelChanged:
			e.Data = event.ModelChanged{Value: "default"}
		case event.TypeModeChanged:
			e.Data = event.ModeChanged{Value: "default"}
		}
		out(e)
	}),
}

var takesARefusalForAChange = broken.Adapter{
	Name: "takes-a-refusal-for-a-change", Sentence: "returns no error if the runtime rejects a mode",
	Proves: "mode.reported",
	Mutation: broken.Mutation{SetModeError: func(err error) error {
		if errors.Is(err, adapters.ErrRefused) {
			return nil
		}
		return err
	}},
}
