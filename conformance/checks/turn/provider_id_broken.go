package turn

import (
	"strconv"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var numbersItsTurns = broken.Adapter{
	Name: "numbers-its-turns", Sentence: "reports its own number of a turn as the runtime's id",
	Proves: "turn.provider-id", Runtime: "codex", Why: "Claude Code does not name its turns",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.TurnStart); ok {
			d.ProviderTurnID = strconv.Itoa(e.Turn)
			e.Data = d
		}
		out(e)
	}),
}
