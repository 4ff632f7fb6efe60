package turn

import (
	"path"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var textAlone = broken.Adapter{
	Name: "text-alone", Sentence: "sends only the text of a message",
	Proves:   "turn.files",
	Mutation: broken.Mutation{Files: func([]event.Attachment) []event.Attachment { return nil }},
}

var losesTheFolder = broken.Adapter{
	Name: "loses-the-folder", Sentence: "sends the name of a picture for its path",
	Proves:  "turn.files",
	Runtime: "codex", Why: "the messages of Claude Code hold pictures and no paths",
	Mutation: broken.Mutation{Files: func(files []event.Attachment) []event.Attachment {
		for i := range files {
			files[i].Path = path.Base(files[i].Path)
		}
		return files
	}},
}
