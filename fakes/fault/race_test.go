package fault_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// raceLines returns the lines of the case's file at which an operator makes its calls, and which
// steps of the scenario they replace.
func raceLines(t *testing.T, operator, id string) (lines, nth []int) {
	t.Helper()
	c := load(t, id)
	s, err := fixtures.LoadScenario(c.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	o := named(t, operator)
	for _, place := range o.Places(c, s) {
		f := o.Apply(c, place)
		lines, nth = append(lines, f.Line), append(nth, f.Race.Nth)
	}
	return lines, nth
}

// TestStopsMoveWithinTheirTurn looks for stops that are moved before the message that they stop, or
// out of the turn: there the runtime would do something else.
func TestStopsMoveWithinTheirTurn(t *testing.T) {
	for _, x := range []struct {
		id            string
		first, last   int
		operator, why string
	}{
		{"claude/newest/stop/right-after-the-message", 11, 15, "stop-early", "from the message to the line before the stop"},
		{"codex/newest/stop/right-after-the-message", 15, 18, "stop-early", "likewise"},
		{"codex/newest/question/stopped-while-open", 16, 24, "stop-early", "the stand-in plays a warning, line 17, before the message"},
		{"claude/newest/background/stop-in-the-unprompted-turn", 47, 52, "stop-early", "from the beginning of the turn that no message began"},
	} {
		lines, nth := raceLines(t, x.operator, x.id)
		for _, n := range nth {
			if n != 1 {
				t.Errorf("%s: %s replaces stop %d, want 1", x.id, x.operator, n)
			}
		}
		if len(lines) == 0 || lines[0] != x.first || lines[len(lines)-1] != x.last {
			t.Errorf("%s: %s at %v, want %s: %d to %d", x.id, x.operator, lines, x.why, x.first, x.last)
		}
	}
}

// TestRacesNeedAScenario looks for places in a case whose steps are not known.
func TestRacesNeedAScenario(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, "claude/newest/stop/mid-text")
	for _, o := range fault.Operators() {
		if o.Kind == fault.Raced {
			g.Expect(o.Places(c, nil)).To(gomega.BeEmpty(), o.Name)
		}
	}
}
