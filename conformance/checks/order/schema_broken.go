package order

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var inventsACode = broken.Adapter{
	Name: "invents-a-code", Sentence: "gives errors of the model a code that is not on the list",
	Proves: "order.schema",
	Mutation: broken.Change(func(d *event.Error) {
		if d.Code != event.ErrorCrash {
			d.Code = "model_error"
		}
	}),
}
