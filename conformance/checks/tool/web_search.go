package tool

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// WebSearch is the check tool.web-search.
var WebSearch = &conformance.Check{
	ID: "tool.web-search", Source: "wire/codex: a webSearch item opens pages too, and starts with an empty query", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_start.query", "tool_start.url"},
	Needs:    []string{"tool_start.input", "tool_result.output"},
	Mend:     "Call the tool by what the call does. If the runtime states that only when the call has ended, emit tool_start then. Fill query and url from the call.",
	Sentence: "A web search is WebSearch and a fetched page is WebFetch. The query or the address is in tool_start: in query or url, or in the input; or else in the tool_result.",
	Judge:    judgeWeb,
}

// webCall is the input of a call of the scenario that searches the web or fetches a page.
type webCall struct {
	Query string `json:"query"`
	URL   string `json:"url"`
}

func judgeWeb(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		var in webCall
		if call.Tool != "web" || call.Hidden || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		for _, start := range runindex.Of(t.Run).Starts(call) {
			judgeWebStart(t, start, in, f)
		}
	}
}

// judgeWebStart judges the event that announces a search or a page, and its result if the
// event does not hold what is looked for.
func judgeWebStart(t *conformance.Trial, start conformance.Event, in webCall, f *conformance.Finding) {
	d, _ := start.Data.(event.ToolStart)
	f.Asserted(1)
	switch {
	case in.URL != "" && d.Tool == "WebSearch":
		f.At(start, "%s fetches the page %s, but it is called a WebSearch", d.ToolUseID, in.URL)
	case in.URL == "" && d.Tool == "WebFetch":
		f.At(start, "%s searches for %q, but it is called a WebFetch", d.ToolUseID, in.Query)
	}
	if d.Query != "" && d.Query != in.Query {
		f.At(start, "the query of %s is %q, the model gave %q", d.ToolUseID, d.Query, in.Query)
	}
	if d.URL != "" && d.URL != in.URL {
		f.At(start, "the url of %s is %q, the model gave %q", d.ToolUseID, d.URL, in.URL)
	}
	if holdsWeb(d, in) {
		return
	}
	tool := runindex.Of(t.Run).Tool(start.SubagentID, d.ToolUseID)
	r, ended := tool.Result()
	if !ended {
		f.At(start, "the search %s has no result", d.ToolUseID)
		return
	}
	switch {
	case r.Status != event.ToolOK && r.Status != event.ToolError: // cut short
	case !strings.Contains(r.Output, in.Query) || !strings.Contains(r.Output, in.URL):
		f.At(tool.Results[0], "the search %s ended, but neither its input %s nor its output %q holds the query: %q",
			d.ToolUseID, runindex.Clip(string(d.Input)), runindex.Clip(r.Output), in.Query+in.URL)
	}
}

// holdsWeb reports whether a tool_start holds the query or the address of a call.
func holdsWeb(d event.ToolStart, in webCall) bool {
	return (d.Query == in.Query || runindex.Holds(d.Input, in.Query)) && (d.URL == in.URL || runindex.Holds(d.Input, in.URL))
}
