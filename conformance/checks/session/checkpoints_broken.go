package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var restoresInSilence = broken.Adapter{
	Name: "restores-in-silence", Sentence: "does not report that a checkpoint was restored",
	Proves: "session.checkpoints",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Checkpoint); !ok || d.Action != event.CheckpointRestored {
			out(e)
		}
	}),
}
