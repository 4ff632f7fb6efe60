package component

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var replacesWhereItMerges = broken.Adapter{
	Name: "replaces-where-it-merges", Sentence: "replaces the props of a component instead of merging into them",
	Proves: "replay.components",
	Mutation: editing(func(d event.Data) event.Data {
		if u, ok := d.(event.ComponentUpdate); ok {
			u.Merge = false
			return u
		}
		return d
	}),
}

var showsTheParentsOnly = broken.Adapter{
	Name: "shows-the-parents-only", Sentence: "drops the components that a sub-agent shows",
	Proves:  "component.update",
	Runtime: "claude", Why: "in the cases of Codex no sub-agent shows a component",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeComponentUpdate || e.SubagentID == "" {
			out(e)
		}
	}),
}

var mergesAlways = broken.Adapter{
	Name: "merges-always", Sentence: "marks each update of a component as a merge",
	Proves: "component.update",
	Mutation: editing(func(d event.Data) event.Data {
		if u, ok := d.(event.ComponentUpdate); ok {
			u.Merge = true
			return u
		}
		return d
	}),
}
