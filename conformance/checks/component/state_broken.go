package component

import (
	"bytes"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var keepsWhatIsNull = broken.Adapter{
	Name: "keeps-what-is-null", Sentence: "keeps a member of the state that the model set to null",
	Proves: "component.state",
	Mutation: editing(func(d event.Data) event.Data {
		if u, ok := d.(event.ComponentUpdate); ok && u.ComponentID == adapters.StateComponentID {
			u.Props = bytes.Replace(u.Props, []byte(`"state":{"done"`), []byte(`"state":{"count":null,"done"`), 1)
			return u
		}
		return d
	}),
}
