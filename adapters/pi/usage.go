package pi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// emitUsage emits the tokens of the turn, of which a run that repeats a failed one has only
// its own.
func (t *translator) emitUsage(messages jsontext.Value) {
	var last lenient.Num
	for _, m := range lenient.Decode[[]message](messages) {
		u := &m.Usage
		if m.Role != "assistant" || u.Total == 0 {
			continue
		}
		last = u.Total
		t.turnTokens.Input += int64(u.Input + u.CacheRead + u.CacheWrite)
		t.turnTokens.Cached += int64(u.CacheRead)
		t.turnTokens.Output += int64(u.Output)
		t.turnTokens.Reasoning += int64(u.Reasoning)
		t.turnTokens.Total += int64(u.Total)
	}
	if last == 0 {
		return
	}
	d := event.Usage{Tokens: t.turnTokens, Scope: event.ScopeTurn}
	if t.model.Window > 0 {
		d.Context = &event.Context{Used: int64(last), Window: int64(t.model.Window)}
	}
	t.l.Emit(d)
}
