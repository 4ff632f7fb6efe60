package component

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// ToolLinked is the check component.tool-linked.
var ToolLinked = &conformance.Check{
	ID: "component.tool-linked", Source: "generative interfaces: a tool's component whose spinner never ends", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"tool_start.input", "tool_result.output"},
	Mend:     "Keep the name, input and output of the call as the tool has them, and match the output by the id of the call.",
	Sentence: "The tool_start of a tool with a registered component holds the tool's name and input, and its tool_result the output as the tool returned it, so that the component can show loading, then ready or error.",
	Judge:    judgeLinked,
}

// judgeLinked compares the first tool_start and the first tool_result of each
// linked call with the props that the component must show.
func judgeLinked(t *conformance.Trial, f *conformance.Finding) {
	k, ok := KindsOf(t.Scenario)
	if !ok {
		return
	}
	for _, call := range runindex.Calls(t.Run) {
		in, ok := runindex.ClientCall(call.OutputPart)
		i := slices.IndexFunc(t.Scenario.Tools, func(x fixtures.Tool) bool { return x.Name == in.Tool })
		if !ok || i < 0 {
			continue
		}
		for _, l := range k.Tools {
			if l.Tool != in.Tool {
				continue
			}
			f.Asserted(1)
			tool := &t.Scenario.Tools[i]
			props, status := in.Arguments, "ready"
			if tool.IsError || tool.Fail != "" {
				status = "error"
			}
			if out := jsontext.Value(runindex.ToolResults(t.Run)[call.ID]); out.Kind() == '{' && out.IsValid() {
				props = MergeProps(props, out) // a runtime may wrap an error: then it is no object
			}
			want := fmt.Sprintf("%s loading %s\n%s %s %s\n", l.Component, runindex.Canonical(in.Arguments), l.Component, status, runindex.Canonical(props))
			if got := linkedEvents(t.Run, call.ID, l.Tool, l.Component); want != got {
				f.Diff("the events of call "+call.ID+" do not hold what its component shows", want, got)
			}
		}
	}
}

// clientTool is the prefix of the name of a client's tool on runtimes that reach
// it as an MCP server.
const clientTool = "mcp__client__"

// linkedEvents returns what the component of a call shows according to the call's
// events.
func linkedEvents(r *conformance.Run, call, tool, component string) string {
	tools := runindex.Of(r).ToolsOf(call)
	if len(tools) == 0 || len(tools[0].Starts) == 0 {
		return ""
	}
	start, _ := tools[0].Starts[0].Data.(event.ToolStart)
	if strings.TrimPrefix(start.Tool, clientTool) != tool {
		return ""
	}
	props := start.Input
	out := fmt.Sprintf("%s loading %s\n", component, runindex.Canonical(props))
	if len(tools[0].Results) == 0 {
		return out
	}
	result, _ := tools[0].Results[0].Data.(event.ToolResult)
	status := "ready"
	if result.Status != event.ToolOK || result.IsError {
		status = "error"
	}
	if o := jsontext.Value(result.Output); o.Kind() == '{' && o.IsValid() {
		props = MergeProps(props, o)
	}
	return out + fmt.Sprintf("%s %s %s\n", component, status, runindex.Canonical(props))
}
