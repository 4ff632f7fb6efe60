package tool

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var searchesForNothing = broken.Adapter{
	Name: "searches-for-nothing", Sentence: "reports neither the query of a search nor the address of a page",
	Proves: "tool.web-search",
	Mutation: broken.Change(func(d *event.ToolStart) {
		if strings.HasPrefix(d.Tool, "Web") {
			d.Query, d.URL, d.Input = "", "", event.Raw("{}")
		}
	}),
}

var callsAPageASearch = broken.Adapter{
	Name: "calls-a-page-a-search", Sentence: "reports a page that the model fetches as a web search",
	Proves: "tool.web-search",
	Mutation: broken.Change(func(d *event.ToolStart) {
		if d.Tool == "WebFetch" {
			d.Tool = "WebSearch"
		}
	}),
}
