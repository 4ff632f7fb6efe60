package turn

import (
	"encoding/base64"
	"fmt"
	"io"
	"path"
	"regexp"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var textAlone = broken.Adapter{
	Name: "text-alone", Sentence: "sends only the text of a message",
	Proves:   "turn.files",
	Mutation: broken.Mutation{Files: func([]event.Attachment) []event.Attachment { return nil }},
}

// textDocument is a document of Claude Code that is text.
var textDocument = regexp.MustCompile(`\{"type":"document","title":"[^"]*","source":\{"type":"text","media_type":"text/plain","data":("(?:[^"\\]|\\.)*")\}\}`)

var pastesTheURL = broken.Adapter{
	Name: "pastes-the-url", Sentence: "sends the data URL of a text as words of the user",
	Proves:  "turn.files",
	Runtime: "claude", Why: "Codex takes a file by its path only",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		_, err := w.Write(textDocument.ReplaceAllFunc(line, func(block []byte) []byte {
			var text string
			if json.Unmarshal(textDocument.FindSubmatch(block)[1], &text) != nil {
				return block
			}
			return fmt.Appendf(nil, `{"type":"text","text":"data:text/plain;base64,%s"}`, base64.StdEncoding.EncodeToString([]byte(text)))
		}))
		return err
	}},
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

var forgetsTheNames = broken.Adapter{
	Name: "forgets-the-names", Sentence: "sends a file without its name",
	Proves:  "turn.files",
	Runtime: "claude", Why: "Codex gets no names of pictures",
	Mutation: broken.Mutation{Files: func(files []event.Attachment) []event.Attachment {
		for i := range files {
			files[i].Name = ""
		}
		return files
	}},
}
