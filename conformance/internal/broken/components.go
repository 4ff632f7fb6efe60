package broken

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// showing are broken in what they make of components.
func showing() []Adapter {
	each := func(f func(d event.Data) event.Data) mutation {
		return mutation{events: func() func(event.Event, func(event.Event)) {
			return func(e event.Event, out func(event.Event)) {
				if e.Data = f(e.Data); e.Data != nil {
					out(e)
				}
			}
		}}
	}
	return []Adapter{
		{
			Name: "replaces-where-it-merges", Sentence: "replaces the props of a component that it is to merge into",
			Fails: []string{"component.update", "replay.components"},
			mutation: each(func(d event.Data) event.Data {
				if u, ok := d.(event.ComponentUpdate); ok {
					u.Merge = false
					return u
				}
				return d
			}),
		},
		{
			Name: "never-removes", Sentence: "leaves a component that was removed",
			Fails: []string{"component.remove", "replay.components"},
			mutation: each(func(d event.Data) event.Data {
				if d.EventType() == event.TypeComponentRemove {
					return nil
				}
				return d
			}),
		},
		{
			Name: "cuts-an-object", Sentence: "loses the last brace of a tool's output",
			Fails: []string{"component.tool-linked"},
			mutation: each(func(d event.Data) event.Data {
				if r, ok := d.(event.ToolResult); ok {
					r.Output = strings.TrimSuffix(r.Output, "}")
					return r
				}
				return d
			}),
		},
	}
}
