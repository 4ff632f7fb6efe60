package replay

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var stopLooksFinished = broken.Adapter{
	Name: "stop-looks-finished", Sentence: "ends a stopped turn like a finished one",
	Proves:   "replay.interrupted",
	Mutation: broken.Change(func(d *event.Done) { d.Stopped = false }),
}
