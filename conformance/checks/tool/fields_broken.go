package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var hidesThePath = broken.Adapter{
	Name: "hides-the-path", Sentence: "reports the path of a file only in the input",
	Proves:   "tool.fields",
	Mutation: broken.EachToolStart(func(d *event.ToolStart) { d.FilePath = "" }),
}

var showsAnotherCommand = broken.Adapter{
	Name: "shows-another-command", Sentence: "shows a command with the name of its tool before it",
	Proves: "tool.fields",
	Mutation: broken.EachToolStart(func(d *event.ToolStart) {
		if d.Command != "" {
			d.Command = d.Tool + " " + d.Command
		}
	}),
}
