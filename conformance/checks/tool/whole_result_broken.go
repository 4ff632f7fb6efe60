package tool

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var keepsTheFirstLine = broken.Adapter{
	Name: "keeps-the-first-line", Sentence: "keeps the first line of a tool's output of plain text",
	Proves: "tool.whole-result",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolResult); ok && !strings.HasPrefix(d.Output, "{") {
			d.Output, _, _ = strings.Cut(d.Output, "\n")
			e.Data = d
		}
		out(e)
	}),
}
