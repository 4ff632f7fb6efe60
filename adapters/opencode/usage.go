package opencode

import "github.com/turnspec/turnspec/adapters/event"

// emitUsage emits the tokens of the turn so far, at the end of a reply of the model.
func (t *translator) emitUsage(a *agent, p part) {
	k := p.Tokens
	if a.sub {
		return // its session has its own
	}
	if k.Total == 0 && k.Input == 0 && k.Output == 0 {
		return
	}
	a.tokens.Input += int64(k.Input + k.Cache.Read + k.Cache.Write)
	a.tokens.Cached += int64(k.Cache.Read)
	a.tokens.Output += int64(k.Output + k.Reasoning)
	a.tokens.Reasoning += int64(k.Reasoning)
	a.tokens.Total += int64(k.Total)
	t.l.Emit(event.Usage{Tokens: a.tokens, Scope: event.ScopeTurn})
}
