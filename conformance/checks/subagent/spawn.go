package subagent

import (
	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Spawn is the check subagent.spawn.
var Spawn = &conformance.Check{
	ID: "subagent.spawn", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_start.subagent_spawn"},
	Needs:    []string{"tool_start.subagent_spawn"},
	Mend:     "Set subagent_spawn on the tool_start of the call that starts a sub-agent, and on no other.",
	Sentence: "The tool_start of a call that spawns a sub-agent sets subagent_spawn, and no other does.",
	Judge:    judgeSpawn,
}

func judgeSpawn(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		if call.Hidden {
			continue
		}
		for _, e := range runindex.Of(t.Run).Starts(call) {
			d, _ := e.Data.(event.ToolStart)
			var in struct {
				Prompt string `json:"prompt"`
			}
			spawns := call.Tool == "subagent" && json.Unmarshal(call.Input, &in) == nil && in.Prompt != ""
			if spawns {
				f.Asserted(1)
			}
			if d.SubagentSpawn != spawns {
				f.At(e, "the call %s (%s) has subagent_spawn %v", call.ID, call.Tool, d.SubagentSpawn)
			}
		}
	}
}
