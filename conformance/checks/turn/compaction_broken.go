package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var compactsForEver = broken.Adapter{
	Name: "compacts-for-ever", Sentence: "does not report the end of a compaction",
	Proves: "turn.compaction",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Compaction); !ok || d.Phase != event.PhaseEnd {
			out(e)
		}
	}),
}

var forgetsTheSize = broken.Adapter{
	Name: "forgets-the-size", Sentence: "does not report how many tokens remain after a compaction",
	Proves: "turn.compaction", Runtime: "claude", Why: "Codex states no size",
	Mutation: broken.Change(func(d *event.Compaction) { d.Tokens = 0 }),
}
