package tool

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var keepsTheFirstLine = broken.Adapter{
	Name: "keeps-the-first-line", Sentence: "keeps the first line of a tool's output of plain text",
	Proves: "tool.whole-result",
	Mutation: broken.Change(func(d *event.ToolResult) {
		if !strings.HasPrefix(d.Output, "{") {
			d.Output, _, _ = strings.Cut(d.Output, "\n")
		}
	}),
}
