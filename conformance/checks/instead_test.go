package checks

import (
	"slices"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// TestLongRestsAreOfVirtualTime demands that only checks in virtual time add a long
// idle time to a scenario: in real time it would last a quarter of an hour.
func TestLongRestsAreOfVirtualTime(t *testing.T) {
	rests := 0
	scenarios, err := fixtures.Embedded().Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		for _, c := range All() {
			if c.AlternateSteps == nil || !slices.ContainsFunc(c.AlternateSteps(s), func(a fixtures.Step) bool { return a.What == perform.LongIdle.What }) {
				continue
			}
			rests++
			if !slices.Equal(c.Tiers, []conformance.Tier{conformance.TierTiming}) {
				t.Errorf("%s adds a long idle time to %s, but its tiers are %v", c.ID, s.ID, c.Tiers)
			}
		}
	}
	if rests == 0 {
		t.Error("no check adds a long idle time")
	}
}
