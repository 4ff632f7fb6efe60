package runner

import (
	"testing"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// TestLimitsGrowWithTheLoad checks that a subject gets longer limits if it opened its session
// slowly without a fault, and the same ones otherwise.
func TestLimitsGrowWithTheLoad(t *testing.T) {
	for opened, want := range map[time.Duration]time.Duration{
		100 * time.Millisecond: 3 * time.Second,
		750 * time.Millisecond: 3 * time.Second,
		3 * time.Second:        12 * time.Second,
	} {
		plain := &conformance.Run{Steps: []conformance.StepResult{{Step: fixtures.Step{Verb: fixtures.VerbOpen}, For: opened}}}
		got := limitsFor(plain)
		if got.Handshake != want || got.Stop != want*2/3 || got.Idle != want*2/3 || got.Request != want*2/3 {
			t.Errorf("opened in %v: limits %+v, want a handshake of %v and two thirds of it for the others", opened, got, want)
		}
	}
	if got := limitsFor(&conformance.Run{}); got != scaledLimits {
		t.Errorf("a run without an open: limits %+v", got)
	}
}
