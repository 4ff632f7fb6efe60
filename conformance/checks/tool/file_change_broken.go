package tool

import (
	"path"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var losesTheChange = broken.Adapter{
	Name: "loses-the-change", Sentence: "reports that a file was changed, without the change",
	Proves:   "tool.file-change",
	Mutation: broken.Change(func(d *event.ToolResult) { d.Changes = nil }),
}

var changesAnotherFile = broken.Adapter{
	Name: "changes-another-file", Sentence: "reports the changes of a file with the name of its folder",
	Proves:   "tool.file-change",
	Mutation: broken.EachFileChange(func(c *event.FileChange) { c.Path = path.Dir(c.Path) }),
}

var addsEachFile = broken.Adapter{
	Name: "adds-each-file", Sentence: "reports each changed file as a new one",
	Proves:   "tool.file-change",
	Mutation: broken.EachFileChange(func(c *event.FileChange) { c.Kind = event.ChangeAdd }),
}

var dropsTheHunkHeaders = broken.Adapter{
	Name: "drops-the-hunk-headers", Sentence: "reports the lines of a change without saying where they stand",
	Proves: "tool.file-change",
	Mutation: broken.EachFileChange(func(c *event.FileChange) {
		var out strings.Builder
		for line := range strings.Lines(c.Diff) {
			if !strings.HasPrefix(line, "@@ ") {
				out.WriteString(line)
			}
		}
		c.Diff = out.String()
	}),
}
