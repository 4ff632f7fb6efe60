package usage

import (
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Reported is the check usage.reported.
var Reported = &conformance.Check{
	ID: "usage.reported", Source: "the event contract (adapters/event): usage", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"turn", "usage", "usage.context.used", "usage.tokens", "usage.tokens.cached", "usage.tokens.input", "usage.tokens.output", "usage.tokens.reasoning", "usage.scope"},
	Aliases:  []string{"usage.told"},
	Needs:    []string{"usage"},
	Mend:     "Add up the tokens of the model's replies for the scope that the event names. Take the context from the last reply alone.",
	Sentence: "The last usage of a turn reports the tokens of the model's replies in its scope: the last reply, the turn, or the session so far. Its context is that of the last reply.",
	Judge:    judgeUsage,
}

// judgeUsage judges scenarios in which each reply of the main agent has a usage. The
// last usage of a turn counts, because some runtimes report it several times.
func judgeUsage(t *conformance.Trial, f *conformance.Finding) {
	replies := t.Scenario.Model[""]
	costs := make([]fixtures.Usage, 0, len(replies))
	for _, r := range replies {
		u := costOf(r)
		if u == nil {
			return
		}
		costs = append(costs, *u)
	}
	if len(t.Scenario.Model) > 1 || len(costs) == 0 {
		return
	}
	var turn, session event.Tokens
	turns, last := costsByTurn(replies, costs), map[int]conformance.Event{}
	for e := range runindex.EventsOf[event.Usage](t.Run) {
		if e.SubagentID == "" {
			last[e.Turn] = e
		}
	}
	for n, of := range turns {
		f.Asserted(1)
		turn = event.Tokens{}
		for _, u := range of {
			turn, session = plus(turn, u), plus(session, u)
		}
		number := 0
		if all := runindex.Of(t.Run).Turns(); n < len(all) {
			number = all[n].N
		}
		e, reported := last[number]
		if !reported || number == 0 {
			f.Failf("the usage of turn %d is not reported", n+1)
			continue
		}
		got := e.Data.(event.Usage)
		end := of[len(of)-1]
		judgeScope(t.Run, f, e, map[event.Scope]event.Tokens{event.ScopeRequest: plus(event.Tokens{}, end), event.ScopeTurn: turn, event.ScopeSession: session})
		if used := int64(end.Input + end.Output); got.Context != nil && got.Context.Used != used {
			f.At(e, "the last reply of turn %d used %d tokens of the context, but the usage reports %d", n+1, used, got.Context.Used)
		}
	}
}

// judgeScope compares the tokens of a usage with those of the scope that it names. One that
// names none is of the turn or of the session.
func judgeScope(r *conformance.Run, f *conformance.Finding, e conformance.Event, want map[event.Scope]event.Tokens) {
	got, _ := e.Data.(event.Usage)
	tokens := got.Tokens
	tokens.Total = 0
	switch got.Scope {
	case "":
		if !sameTokens(r, tokens, want[event.ScopeTurn]) && !sameTokens(r, tokens, want[event.ScopeSession]) {
			f.At(e, "the turn cost %s, the session so far %s; the usage is %s", tokenWords(want[event.ScopeTurn]), tokenWords(want[event.ScopeSession]), tokenWords(tokens))
		}
	default:
		if !sameTokens(r, tokens, want[got.Scope]) {
			f.At(e, "the usage of the scope %s is %s, but the %s cost %s", got.Scope, tokenWords(tokens), got.Scope, tokenWords(want[got.Scope]))
		}
	}
}

func costOf(r fixtures.Reply) *fixtures.Usage {
	for _, p := range r.Parts {
		if p.Usage != nil {
			return p.Usage
		}
	}
	return nil
}

// costsByTurn groups the costs of the replies. A reply that is bound to a message
// begins a turn.
func costsByTurn(replies []fixtures.Reply, costs []fixtures.Usage) (out [][]fixtures.Usage) {
	for i, r := range replies {
		if i == 0 || r.On != "" {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], costs[i])
	}
	return out
}

func plus(t event.Tokens, u fixtures.Usage) event.Tokens {
	t.Input += int64(u.Input)
	t.Cached += int64(u.Cached)
	t.Output += int64(u.Output)
	t.Reasoning += int64(u.Reasoning)
	return t
}

// statesReasoning reports whether the runtime states how many tokens of reasoning the model used.
func statesReasoning(r *conformance.Run) bool {
	return slices.ContainsFunc(runindex.StatementsOf(r), func(s wire.Statement) bool {
		return s.Tokens != nil && s.Tokens.Reasoning > 0 || s.Last != nil && s.Last.Reasoning > 0
	})
}

// sameTokens compares tokens. It allows that those of reasoning are missing if no line states
// them.
func sameTokens(r *conformance.Run, got, want event.Tokens) bool {
	if got.Reasoning == 0 && !statesReasoning(r) {
		want.Reasoning = 0
	}
	return got == want
}

func tokenWords(t event.Tokens) string {
	return fmt.Sprintf("%d in (%d cached), %d out (%d reasoning)", t.Input, t.Cached, t.Output, t.Reasoning)
}
