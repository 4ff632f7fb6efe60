package tool

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var searchesForNothing = broken.Adapter{
	Name: "searches-for-nothing", Sentence: "does not report the query of a search that is known only at its end",
	Fails: []string{"tool.web-search"}, Runtime: "codex", Why: "Claude Code reports the query when a search begins",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolResult); ok && strings.HasPrefix(d.ToolUseID, "ws_") {
			d.Output = ""
			e.Data = d
		}
		out(e)
	}),
}
