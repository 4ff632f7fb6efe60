package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var spawnsInSilence = broken.Adapter{
	Name: "spawns-in-silence", Sentence: "does not mark the call that spawns a sub-agent",
	Proves:   "subagent.spawn",
	Mutation: broken.Change(func(d *event.ToolStart) { d.SubagentSpawn, d.SubagentName = false, "" }),
}
