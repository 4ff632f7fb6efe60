package tool

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var offersWithoutAWord = broken.Adapter{
	Name: "offers-without-a-word", Sentence: "offers a tool without description and schema",
	Proves:   "tool.client-offered",
	Mutation: toolMutation(func(t *adapters.Tool) { t.Description, t.Schema = "", nil }),
}
