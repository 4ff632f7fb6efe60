package explore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/shrink"
)

// shrinkPerforms bounds how often a scenario is performed to make it smaller.
const shrinkPerforms = 60

// shrinker makes a failing scenario smaller.
type shrinker struct {
	*performer
	failure failure
	left    int // performs
	best    *outcome
	report  func(string)
	tried   map[string]bool // by fingerprint
}

// shrink returns the smallest scenario found whose performance fails the same check: with
// fewer moves, then with fewer parts, deltas and steps.
func (p *performer) shrink(ctx context.Context, plan Plan, failed *outcome, f failure, report func(string)) *outcome {
	// A smaller scenario takes no longer, unless a step waits for what does not come.
	quick := *p
	quick.limit = min(p.limit, 5*time.Second+3*failed.took)
	quick.replayOnly = f.Tier != conformance.TierLive
	s := &shrinker{&quick, f, shrinkPerforms, failed, report, map[string]bool{}}
	more := func() bool { return ctx.Err() == nil && s.left > 0 }
	shrink.Smallest(plan, Plan.reductions, more, func(smaller Plan) bool { return s.try(ctx, smaller.Compose(p.ground)) })
	shrink.Smallest(s.best.text, shrink.ScenarioForms, more, func(smaller []byte) bool { return s.try(ctx, smaller) })
	return s.best
}

// try performs a smaller scenario, and keeps it if it fails the same check.
func (s *shrinker) try(ctx context.Context, text []byte) bool {
	fingerprint := Fingerprint(text)
	if _, err := Parse(text); err != nil || s.tried[fingerprint] || bytes.Equal(text, s.best.text) {
		return false // a reduction may break the scenario
	}
	s.tried[fingerprint] = true
	s.left--
	out, err := s.perform(ctx, text)
	if err != nil || out.notPerformed != "" || !out.hasLike(s.failure) {
		return false // the harness cannot perform each
	}
	s.best = out
	s.report(fmt.Sprintf("made smaller: %d bytes, %d tries left", len(text), s.left))
	return true
}

// reductions returns smaller plans: those that leave out most first.
func (p Plan) reductions() []Plan {
	var out []Plan
	n := len(p.Moves)
	for size := n / 2; size > 0; size /= 2 {
		for from := 0; from+size <= n; from += size {
			smaller := p.clone()
			smaller.Moves = slices.Delete(smaller.Moves, from, from+size)
			out = append(out, smaller)
		}
	}
	for i, m := range p.Moves {
		for j := range m.Inner {
			smaller := p.clone()
			smaller.Moves[i].Inner = slices.Delete(smaller.Moves[i].Inner, j, j+1)
			out = append(out, smaller)
		}
	}
	return out
}
