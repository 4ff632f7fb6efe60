package checks

import (
	"slices"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// TestLongRestsAreOfVirtualTime: what is performed in real time must not rest for
// a quarter of an hour.
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
				t.Errorf("%s rests in %s, and is of the tiers %v", c.ID, s.ID, c.Tiers)
			}
		}
	}
	if rests == 0 {
		t.Error("no check rests")
	}
}
