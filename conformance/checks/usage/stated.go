package usage

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Stated is the check usage.stated.
var Stated = &conformance.Check{
	ID: "usage.stated", Source: "the event contract (adapters/event): usage", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"usage", "usage.tokens", "usage.tokens.input", "usage.tokens.cached", "usage.tokens.output", "usage.tokens.reasoning", "usage.tokens.total", "usage.cost", "usage.context.used", "usage.context.window"},
	Needs:    []string{"usage"},
	Mend:     "Copy tokens, cost, context and window from the runtime's report, without rounding. Emit usage for each turn for which it has one.",
	Sentence: "usage holds what the runtime states: tokens, cost, the context in use and its window. A turn whose usage the runtime states has one.",
	Judge:    judgeStated,
}

func judgeStated(t *conformance.Trial, f *conformance.Finding) {
	statements := runindex.StatementsOf(t.Run)
	reported := map[int]bool{}
	began := map[int]int{} // how many lines had been played when a turn began
	for _, e := range t.Events {
		d, is := e.Data.(event.Usage)
		if e.Type() == event.TypeTurnStart {
			began[e.Turn] = runindex.FirstLineOf(t.Run, e)
		}
		if !is || e.SubagentID != "" {
			continue
		}
		reported[e.Turn] = true
		f.Asserted(1)
		runindex.Demand(t, f, e, "usage.scope", d.Scope != "", "what the tokens count")
		var problems []conformance.Problem
		for first, now := runindex.FirstLineOf(t.Run, e), e.Line; now >= first; now-- {
			var one conformance.Finding
			compareUsage(t, statements, e, d, began[e.Turn], now, &one)
			if problems = one.Problems; len(problems) == 0 {
				break
			}
		}
		f.Problems = append(f.Problems, problems...)
	}
	for _, e := range t.Events {
		if !e.Terminal() || e.Turn == 0 || e.SubagentID != "" || reported[e.Turn] {
			continue
		}
		// A client that closes the session in the turn misses only what is stated at its end.
		closed := e.Steps > 0 && t.Steps[e.Steps-1].Step.Verb == fixtures.VerbClose
		from, to := began[e.Turn], min(runindex.FirstLineOf(t.Run, e), len(statements))
		if slices.ContainsFunc(statements[min(from, to):to], func(s wire.Statement) bool { return s.Tokens != nil && (!closed || s.End != "") }) {
			f.Asserted(1)
			f.At(e, "the runtime states the usage of turn %d, but no event reports it", e.Turn)
		}
	}
}

// compareUsage compares a usage with what the runtime had stated when so many lines had
// been played, in a turn that began at a line.
func compareUsage(t *conformance.Trial, statements runindex.Statements, e conformance.Event, d event.Usage, began, now int, f *conformance.Finding) {
	s, ok := statements.Last(now, func(s wire.Statement) bool { return s.Tokens != nil })
	if !ok {
		f.At(e, "the runtime has not stated this usage")
		return
	}
	if !slices.Contains(statedTokens(statements, s, began, now), tokensOf(d.Tokens)) {
		f.At(e, "the usage is %s, but the runtime states %s", tokenWords(d.Tokens), tokenWords(eventTokens(*s.Tokens)))
	}
	if s.Tokens.Total != 0 {
		runindex.Demand(t, f, e, "usage.tokens.total", d.Tokens.Total != 0, strconv.FormatInt(s.Tokens.Total, 10)+" tokens")
	}
	if total := d.Tokens.Total; total != 0 && total != d.Tokens.Input+d.Tokens.Output && total != s.Tokens.Total {
		f.At(e, "the total is %d tokens, not %d of input and %d of output", total, d.Tokens.Input, d.Tokens.Output)
	}
	cost := s.Cost
	if of, ok := statements.Last(now, func(s wire.Statement) bool { return s.Cost != nil }); ok && cost == nil { // stated by a line of its own
		cost = of.Cost
	}
	judgeCost(t, f, e, d, cost)
	windows := s.Windows
	if of, ok := statements.Last(now, func(s wire.Statement) bool { return s.Windows != nil }); ok && windows == nil { // stated when the session was opened
		windows = of.Windows
	}
	judgeContext(t, f, e, d, windows, lastReply(statements, began, now), statesContext(statements, began, now))
}

func judgeCost(t *conformance.Trial, f *conformance.Finding, e conformance.Event, d event.Usage, cost *float64) {
	switch {
	case d.Cost == nil:
		if cost != nil {
			runindex.Demand(t, f, e, "usage.cost", false, "a cost of $"+strconv.FormatFloat(*cost, 'f', -1, 64))
		}
	case cost == nil:
		f.At(e, "the runtime states no cost, but the usage has $%v", *d.Cost)
	case *d.Cost != *cost:
		f.At(e, "the runtime states a cost of $%v, but the usage has $%v", *cost, *d.Cost)
	}
}

// judgeContext judges the window of the context, and how much of it the last reply of
// the model used.
func judgeContext(t *conformance.Trial, f *conformance.Finding, e conformance.Event, d event.Usage, windows []int64, last *wire.Tokens, inTurn bool) {
	switch {
	case d.Context == nil:
		switch {
		case len(windows) == 0:
		case last != nil:
			runindex.Demand(t, f, e, "usage.context", false, fmt.Sprintf("a window of %v tokens, of which the last reply used %d", windows, last.Total))
		case inTurn:
			runindex.Demand(t, f, e, "usage.context", false, fmt.Sprintf("a window of %v tokens", windows))
		}
	case !slices.Contains(windows, d.Context.Window):
		f.At(e, "the runtime states a window of %v tokens, but the usage has %d", windows, d.Context.Window)
	case last != nil && d.Context.Used != last.Total:
		f.At(e, "the last reply used %d tokens of the context, but the usage has %d", last.Total, d.Context.Used)
	}
}

// statesContext reports whether the runtime states the window in a turn that began at a line, beside
// the end of the turn.
func statesContext(all runindex.Statements, began, now int) bool {
	first := max(began-1, 0)
	return slices.ContainsFunc(all[min(first, len(all)):min(now, len(all))], func(s wire.Statement) bool { return s.Windows != nil && s.End == "" })
}

// lastReply returns the tokens of the model's last reply in a turn that began at a
// line; nil if none is stated.
func lastReply(all runindex.Statements, began, now int) *wire.Tokens {
	for i := min(now, len(all)) - 1; i >= max(began-1, 0); i-- {
		if all[i].Last != nil {
			return all[i].Last
		}
	}
	return nil
}

// statedTokens returns what the tokens may be: as stated, or, of one turn where the
// runtime states those of the session, and the other way round.
func statedTokens(all runindex.Statements, s wire.Statement, began, now int) []event.Tokens {
	out := []event.Tokens{eventTokens(*s.Tokens)}
	if before, ok := all.Last(began, func(s wire.Statement) bool { return s.Tokens != nil }); ok {
		out = append(out, minus(eventTokens(*s.Tokens), eventTokens(*before.Tokens)))
	}
	var turn event.Tokens               // a turn may be stated in parts, of which some failed
	byReply := map[string]wire.Tokens{} // a server may state its tokens so far in each piece
	for i := max(began-1, 0); i < min(now, len(all)); i++ {
		if k := all[i].Tokens; k != nil {
			before := byReply[all[i].Message]
			turn = plusTokens(turn, minus(eventTokens(*k), eventTokens(before)))
			if all[i].Message != "" && all[i].End == "" {
				byReply[all[i].Message] = *k
			}
		}
	}
	out = append(out, turn)
	var sum event.Tokens
	for i := range min(now, len(all)) {
		if k := all[i].Tokens; k != nil && all[i].End != "" {
			sum = plusTokens(sum, eventTokens(*k))
		}
	}
	if sum == (event.Tokens{}) { // no end of a turn states tokens
		return out
	}
	return append(out, sum)
}

func eventTokens(k wire.Tokens) event.Tokens {
	return event.Tokens{Input: k.Input, Cached: k.Cached, Output: k.Output, Reasoning: k.Reasoning}
}

func tokensOf(k event.Tokens) event.Tokens {
	k.Total = 0
	return k
}

func plusTokens(a, b event.Tokens) event.Tokens { return minus(a, minus(event.Tokens{}, b)) }

func minus(a, b event.Tokens) event.Tokens {
	return event.Tokens{Input: a.Input - b.Input, Cached: a.Cached - b.Cached, Output: a.Output - b.Output, Reasoning: a.Reasoning - b.Reasoning}
}
