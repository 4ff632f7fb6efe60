package usage

import (
	"fmt"
	"slices"
	"strings"

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

// judgeUsage judges scenarios in which it is known which replies of the model a turn had. The
// last usage of a turn counts, because some runtimes report it several times.
func judgeUsage(t *conformance.Trial, f *conformance.Finding) {
	turns := statedCosts(t.Scenario)
	if turns == nil {
		turns = usualCosts(t.Run)
	}
	var turn, session event.Tokens
	last := map[int]conformance.Event{}
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

// statedCosts returns what the replies of each turn cost if the scenario gives each reply of
// the model a usage. A reply that is bound to a message begins a turn.
func statedCosts(s *fixtures.Scenario) (out [][]fixtures.Usage) {
	if len(s.Model) > 1 {
		return nil
	}
	for i, r := range s.Model[""] {
		u := costOf(r)
		if u == nil {
			return nil
		}
		if i == 0 || r.On != "" {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], *u)
	}
	return out
}

// usualCosts returns what the replies of each turn cost where the scenario gives none a usage,
// if each turn ended by itself after the model completed its replies. A message that comes with
// results of tools is of the turn that runs.
func usualCosts(r *conformance.Run) (out [][]fixtures.Usage) {
	if slices.ContainsFunc(r.Scenario.Model[""], func(reply fixtures.Reply) bool { return costOf(reply) != nil }) ||
		slices.ContainsFunc(r.Scenario.Client, func(s fixtures.Step) bool { return !slices.Contains(plainSteps, s.Verb) }) {
		return nil
	}
	goesOn := false // the last reply had a call
	for _, q := range r.Witness {
		results := slices.ContainsFunc(q.New, func(id string) bool { return strings.HasPrefix(id, "result:") })
		switch {
		case q.Agent != "" || q.Ended != fixtures.EndedComplete || results != goesOn:
			return nil
		case results:
		case len(q.New) == 1 && slices.Contains(q.History, q.New[0]):
			out = append(out, nil)
		default:
			return nil
		}
		out[len(out)-1] = append(out[len(out)-1], fixtures.UsualUsage)
		goesOn = slices.ContainsFunc(q.Output, func(p fixtures.OutputPart) bool { return p.Tool != "" })
	}
	turns := runindex.Of(r).Turns()
	if goesOn || len(turns) != len(out) || slices.ContainsFunc(turns, endedEarly) {
		return nil
	}
	return out
}

// endedEarly reports whether something else than the model ended a turn.
func endedEarly(t *runindex.Turn) bool {
	e, _ := t.End()
	d, done := e.Data.(event.Done)
	return !done || d.Stopped || d.Reason != ""
}

// plainSteps neither stop a turn nor end the process within it, and ask the model nothing
// besides.
var plainSteps = []fixtures.Verb{fixtures.VerbSend, fixtures.VerbWait, fixtures.VerbAnswer, fixtures.VerbRelease, fixtures.VerbWrite}

func costOf(r fixtures.Reply) *fixtures.Usage {
	for _, p := range r.Parts {
		if p.Usage != nil {
			return p.Usage
		}
	}
	return nil
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
