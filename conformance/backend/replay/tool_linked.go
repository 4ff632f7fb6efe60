package replay

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	components "github.com/turnspec/turnspec/conformance/checks/component"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// ToolLinked is the check replay.tool-linked.
var ToolLinked = &conformance.Check{
	ID: "replay.tool-linked", Source: "generative interfaces: a tool's component whose spinner never ends", Tiers: []conformance.Tier{conformance.TierGolden},
	Needs:    []string{"tool_start.input", "tool_result.output"},
	Mend:     "Link a component to its tool by tool_use_id in the reducer, and merge the parsed output when the result arrives.",
	Sentence: "In the chat a tool with a registered component shows loading, then ready or error with the parsed output merged in.",
	Judge:    judgeLinked,
}

// judgeLinked reduces the events with the scenario's components registered, as a
// user interface does.
func judgeLinked(t *conformance.Trial, f *conformance.Finding) {
	k, ok := components.KindsOf(t.Scenario)
	if !ok || len(k.Tools) == 0 {
		return
	}
	reg, err := component.Parse(t.Scenario.Components)
	if err != nil {
		f.Failf("the components of the scenario: %v", err)
		return
	}
	events := make([]event.Event, 0, len(t.Events))
	for _, e := range t.Events {
		events = append(events, e.Event)
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
				props = components.MergeProps(props, out) // a runtime may wrap an error: then it is no object
			}
			begun := slices.IndexFunc(events, func(e event.Event) bool {
				d, ok := e.Data.(event.ToolStart)
				return ok && runindex.SameCall(t.Run, d.ToolUseID, call.ID)
			})
			w := fmt.Sprintf("%s loading %s\n%s %s %s\n", l.Component, runindex.Canonical(in.Arguments), l.Component, status, runindex.Canonical(props))
			g := linkedTo(t.Run, events[:begun+1], reg, call.ID) + linkedTo(t.Run, events, reg, call.ID)
			if w != g {
				f.Diff("the component of the call "+call.ID+" does not show the call", w, g)
			}
		}
	}
}

// linkedTo returns the components that show a call, each with name, status and props.
func linkedTo(r *conformance.Run, events []event.Event, reg *component.Registry, call string) string {
	chat := replay.Reduce(events, replay.WithRegistry(reg))
	out := ""
	add := func(c *replay.Component, status replay.Status) {
		if c.ToolUseID != "" && runindex.SameCall(r, c.ToolUseID, call) {
			out += fmt.Sprintf("%s %s %s\n", c.Name, status, runindex.Canonical(c.Props))
		}
	}
	for i := range chat.Components {
		add(&chat.Components[i], chat.Components[i].Status)
	}
	for _, m := range chat.Messages {
		eachBlock(m.Blocks, func(b *replay.Block) {
			if b.Kind == replay.KindComponent {
				add(b.Component, b.Status)
			}
		})
	}
	return out
}
