package tool

import (
	"path"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var readsTheFolder = broken.Adapter{
	Name: "reads-the-folder", Sentence: "names the folder of a file that a command reads or searches",
	Proves: "tool.read-described",
	Mutation: broken.Change(func(d *event.ToolStart) {
		if d.Tool == "Bash" && d.IsFileRead {
			d.FilePath, d.SearchPath = path.Dir("./"+d.FilePath), path.Dir("./"+d.SearchPath)
		}
	}),
}
