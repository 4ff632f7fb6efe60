package component

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var neverRemoves = broken.Adapter{
	Name: "never-removes", Sentence: "ignores the removal of a component",
	Proves: "component.remove",
	Mutation: editing(func(d event.Data) event.Data {
		if d.EventType() == event.TypeComponentRemove {
			return nil
		}
		return d
	}),
}
