package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var numbersItsMessages = broken.Adapter{
	Name: "numbers-its-messages", Sentence: "reports the block as the message of a text",
	Proves:   "text.message-id",
	Mutation: broken.Change(func(d *event.Delta) { d.MessageID = "m" + d.BlockID }),
}
