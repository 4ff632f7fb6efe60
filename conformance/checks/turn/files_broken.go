package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var textAlone = broken.Adapter{
	Name: "text-alone", Sentence: "sends only the text of a message",
	Fails:    []string{"turn.files", "turn.user-messages"},
	Only:     map[string]string{"turn.user-messages": "claude"},
	Mutation: broken.Mutation{Files: func([]event.Attachment) []event.Attachment { return nil }},
}
