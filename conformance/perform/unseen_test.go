package perform

import (
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// TestIsUnseen checks that a step is unseen only if the stand-in waits for the next one, and
// not for another step of the same kind.
func TestIsUnseen(t *testing.T) {
	client := []fixtures.Step{{Verb: fixtures.VerbStop}, {Verb: fixtures.VerbSend}, {Verb: fixtures.VerbStop}, {Verb: fixtures.VerbStop}}
	for _, x := range []struct {
		begun   int
		barrier standin.Kind
		want    bool
	}{
		{0, standin.KindSend, false},
		{1, standin.KindSend, true},  // a stop before the first turn
		{2, standin.KindSend, false}, // the message is under way
		{3, standin.KindStop, false}, // the stop is
		{4, standin.KindClose, true}, // the second stop of a turn
	} {
		p := processEnvironment{d: &director{run: &conformance.Run{Scenario: &fixtures.Scenario{Client: client}}}, begun: x.begun}
		if got := p.isUnseen(x.barrier, p.nextStep()); got != x.want {
			t.Errorf("after %d steps at a barrier of kind %v: %v, want %v", x.begun, x.barrier, got, x.want)
		}
	}
}
