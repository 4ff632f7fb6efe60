package session

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var declaresNothing = broken.Adapter{
	Name: "declares-nothing", Sentence: "declares no ability",
	Proves:   "session.capabilities",
	Mutation: broken.Mutation{Declare: func(c *adapters.Capabilities) { *c = adapters.Capabilities{Runtime: c.Runtime} }},
}

var declaresTooMuch = broken.Adapter{
	Name: "declares-too-much", Sentence: "declares that it can change the mode, and returns ErrUnsupported",
	Proves:   "session.capabilities",
	Mutation: broken.Mutation{SetMode: func(string) (string, error) { return "", adapters.ErrUnsupported }},
}

var listsNoModels = broken.Adapter{
	Name: "lists-no-models", Sentence: "declares lists, and returns ErrUnsupported for that of the models",
	Proves: "session.capabilities",
	Mutation: broken.Mutation{ListError: func(list adapters.List) error {
		if list == adapters.ListModels {
			return adapters.ErrUnsupported
		}
		return nil
	}},
}
