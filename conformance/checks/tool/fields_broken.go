package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var hidesThePath = broken.Adapter{
	Name: "hides-the-path", Sentence: "reports the path of a file only in the input",
	Proves:   "tool.fields",
	Mutation: broken.Change(func(d *event.ToolStart) { d.FilePath = "" }),
}

var showsAnotherCommand = broken.Adapter{
	Name: "shows-another-command", Sentence: "shows a command with the name of its tool before it",
	Proves: "tool.fields",
	Mutation: broken.Change(func(d *event.ToolStart) {
		if d.Command != "" {
			d.Command = d.Tool + " " + d.Command
		}
	}),
}

var namesNoMessage = broken.Adapter{
	Name: "calls-without-a-message", Sentence: "does not say in which message of the model a call is",
	Proves: "tool.fields", Mutation: broken.Omit("tool_start.message_id"),
}

var forgetsTheFileRead = broken.Adapter{
	Name: "forgets-the-file-read", Sentence: "names the file that a call reads when it starts, and not in its result",
	Proves: "tool.fields", Mutation: broken.Omit("tool_result.file_path", "tool_result.is_file_read"),
}
