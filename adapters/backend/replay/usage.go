package replay

import (
	"cmp"

	"github.com/turnspec/turnspec/adapters/event"
)

// turnFigures returns the figures that the runtime reported for a turn.
func (r *Reducer) turnFigures(t *turn) *Figures {
	f := &Figures{Start: t.start, End: r.now, Tokens: t.tokens}
	if t.stats != nil {
		f.DurationMS, f.Rounds = t.stats.DurationMS, t.stats.Rounds
	}
	if u := r.chat.Usage; u != nil && u.Cost != nil {
		cost := *u.Cost
		if t.startCost != nil {
			cost -= *t.startCost
		}
		if cost > 0 {
			f.Cost = &cost
		}
	}
	return f
}

// noteUsageBefore remembers what the session had used when a turn begins. A session that was
// resumed may have used tokens that no event reports, and one that was taken back to a
// checkpoint may count those of the turns that it kept.
func (r *Reducer) noteUsageBefore(t *turn) {
	u := r.chat.Usage
	if u != nil {
		t.startCost = u.Cost
	}
	switch {
	case r.uncounted:
	case u == nil:
		t.before = &event.Tokens{}
	case u.Scope == event.ScopeSession:
		t.before = clonePtr(&u.Tokens)
	}
}

func (r *Reducer) handleUsage(e event.Event, d event.Usage) {
	if e.SubagentID != "" {
		n := r.ensureAgent(e, "", "")
		n.block.Subagent.Usage = &d.Tokens
		n.markStale()
		return
	}
	if t := r.turns[e.Turn]; t != nil && !t.ended {
		t.addUsage(d)
	}
	r.uncounted = r.uncounted && d.Scope != event.ScopeSession
	u := event.Usage{Tokens: d.Tokens, Scope: d.Scope, Cost: clonePtr(d.Cost), Context: clonePtr(d.Context)}
	if old := r.chat.Usage; old != nil {
		u.Cost, u.Context = cmp.Or(u.Cost, old.Cost), cmp.Or(u.Context, old.Context)
	}
	r.chat.Usage = &u
}

// addUsage sets the tokens of a turn, whatever the scope of the usage. They stay unknown if the
// usage is that of a session and what was used before the turn is unknown. A usage without
// a scope is taken as it is.
func (t *turn) addUsage(d event.Usage) {
	switch {
	case d.Scope == event.ScopeSession && t.before == nil:
	case d.Scope == event.ScopeSession:
		t.tokens = addTokens(d.Tokens, *t.before, -1)
	case d.Scope == event.ScopeRequest && t.tokens != nil:
		t.tokens = addTokens(*t.tokens, d.Tokens, 1)
	default:
		t.tokens = clonePtr(&d.Tokens)
	}
}

// addTokens returns a plus sign times b.
func addTokens(a, b event.Tokens, sign int64) *event.Tokens {
	return &event.Tokens{
		Input: a.Input + sign*b.Input, Cached: a.Cached + sign*b.Cached, Output: a.Output + sign*b.Output,
		Reasoning: a.Reasoning + sign*b.Reasoning, Total: a.Total + sign*b.Total,
	}
}
