package tool

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
)

// WebSearch is the check tool.web-search.
var WebSearch = &conformance.Check{
	ID: "tool.web-search", Source: "wire/codex: a webSearch item starts with an empty query", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"tool_start.input", "tool_result.output"},
	Mend:     "If the query is known only when the search has ended, put it into the tool_result.",
	Sentence: "If the tool_start of a web search does not hold the query, its tool_result does.",
	Judge:    judgeSearch,
}

// judgeSearch judges searches whose tool_start does not hold the query.
func judgeSearch(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		var in struct {
			Query string `json:"query"`
			URL   string `json:"url"`
		}
		if call.Tool != "web" || call.Hidden || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		for _, start := range runindex.Of(t.Run).Starts(call) {
			d, _ := start.Data.(event.ToolStart)
			if runindex.Holds(d.Input, in.Query) && runindex.Holds(d.Input, in.URL) {
				continue // tool_start holds it
			}
			f.Asserted(1)
			tool := runindex.Of(t.Run).Tool(start.SubagentID, d.ToolUseID)
			r, ended := tool.Result()
			if !ended {
				f.At(start, "the search %s has no result", d.ToolUseID)
				continue
			}
			switch {
			case r.Status != event.ToolOK && r.Status != event.ToolError: // cut short
			case !strings.Contains(r.Output, in.Query) || !strings.Contains(r.Output, in.URL):
				f.At(tool.Results[0], "the search %s ended, but neither its input %s nor its output %q holds the query: %q",
					d.ToolUseID, runindex.Clip(string(d.Input)), runindex.Clip(r.Output), in.Query+in.URL)
			}
		}
	}
}
