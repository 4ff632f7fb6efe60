package explore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
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
func (p *performer) shrink(ctx context.Context, plan Plan, failed *outcome, f failure, report func(string)) (*outcome, error) {
	// A smaller scenario takes no longer, unless a step waits for what does not come.
	quick := *p
	quick.limit = min(p.limit, 5*time.Second+3*failed.took)
	quick.replayOnly = f.Tier != conformance.TierLive
	p = &quick
	s := &shrinker{p, f, shrinkPerforms, failed, report, map[string]bool{}}
	for again := true; again && s.left > 0; {
		again = false
		for _, smaller := range plan.reductions() {
			ok, err := s.try(ctx, smaller.Compose(p.ground))
			if err != nil {
				return s.best, err
			}
			if ok {
				plan, again = smaller, true
				break
			}
		}
	}
	for again := true; again && s.left > 0; {
		again = false
		for _, smaller := range textReductions(s.best.text) {
			ok, err := s.try(ctx, smaller)
			if err != nil {
				return s.best, err
			}
			if ok {
				again = true
				break
			}
		}
	}
	return s.best, nil
}

// try performs a smaller scenario, and keeps it if it fails the same check.
func (s *shrinker) try(ctx context.Context, text []byte) (bool, error) {
	if bytes.Equal(text, s.best.text) || s.left == 0 {
		return false, nil
	}
	fingerprint := Fingerprint(text)
	if _, err := Parse(text); err != nil || s.tried[fingerprint] {
		return false, nil //nolint:nilerr // a reduction may break the scenario
	}
	s.tried[fingerprint] = true
	s.left--
	out, err := s.perform(ctx, text)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil || out.notPerformed != "" || !out.hasLike(s.failure) {
		return false, nil //nolint:nilerr // nor can the harness perform each
	}
	s.best = out
	s.report(fmt.Sprintf("made smaller: %d bytes, %d tries left", len(text), s.left))
	return true, nil
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

// textReductions returns smaller texts of a scenario: all prose without its details first,
// then without single parts of replies and single steps.
func textReductions(text []byte) [][]byte {
	lines := strings.Split(string(text), "\n")
	var out [][]byte
	with := func(changed []string) { out = append(out, []byte(strings.Join(changed, "\n"))) }
	section, texts := "", 0
	plain := slices.Clone(lines)
	for i, l := range lines {
		if name, ok := strings.CutPrefix(l, "-- "); ok {
			section = strings.TrimSuffix(name, " --")
			continue
		}
		switch kind, _, _ := strings.Cut(section, " "); {
		case kind == "model" && l != "":
			parts := partsOf(l)
			plain[i] = joined(parts, func(part jsontext.Value) jsontext.Value { return simplePart(part, &texts) })
			for j := range parts {
				if len(parts) > 1 && !isHead(parts[j]) {
					changed := slices.Clone(lines)
					changed[i] = joined(slices.Delete(slices.Clone(parts), j, j+1), nil)
					with(changed)
				}
			}
			with(slices.Delete(slices.Clone(lines), i, i+1))
		case kind == "client" && l != "", kind == "scenario" && strings.HasPrefix(l, "hidden:"):
			with(slices.Delete(slices.Clone(lines), i, i+1))
		}
	}
	return append([][]byte{[]byte(strings.Join(plain, "\n"))}, out...)
}

func partsOf(line string) []jsontext.Value {
	var parts []jsontext.Value
	if json.Unmarshal([]byte(line), &parts) != nil {
		return nil
	}
	return parts
}

func joined(parts []jsontext.Value, change func(jsontext.Value) jsontext.Value) string {
	var out []string
	for _, p := range parts {
		if change != nil {
			p = change(p)
		}
		out = append(out, string(p))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func isHead(part jsontext.Value) bool {
	return bytes.HasPrefix(part, []byte(`{"on":`)) || bytes.HasPrefix(part, []byte(`{"retry":`))
}

// simplePart returns a text or reasoning in one plain delta; any other part unchanged.
// texts counts them: no two are equal, or the checks of texts could not tell them apart.
func simplePart(part jsontext.Value, texts *int) jsontext.Value {
	for _, kind := range []string{"text", "think"} {
		if bytes.HasPrefix(part, []byte(`{"`+kind+`":[`)) {
			*texts++
			return jsontext.Value(fmt.Sprintf(`{%q:["so %s."]}`, kind, letters(*texts)))
		}
	}
	return part
}
