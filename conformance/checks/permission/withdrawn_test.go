package permission

import (
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// In real time too only an answer after the runtime has taken its question back counts: an earlier one
// may be that of a hook.
func TestAnswersBeforeWithdrawal(t *testing.T) {
	began := time.Now()
	for answered, wrong := range map[time.Duration]bool{time.Second: false, 3 * time.Second: true} {
		line := fixtures.WireLine{Line: 7, Dir: fixtures.Out}
		r := &conformance.Run{
			Tier: conformance.TierProcess, Began: began, Fault: &fault.Fault{Operator: "withdrawn-request", Line: 7},
			Played: []conformance.PlayedLine{{Line: line, At: 2 * time.Second}},
			Events: []conformance.Event{
				{Event: event.Event{Data: event.PermissionRequest{RequestID: "q"}}, At: 2 * time.Second},
				{Event: event.Event{Data: event.PermissionResolved{RequestID: "q", By: event.ByWithdrawn}}, At: 2 * time.Second},
			},
			ClientActions: []standin.ClientAction{{Kind: standin.KindAnswer, At: began.Add(answered), Answer: standin.Allow}},
		}
		var f conformance.Finding
		judgeWithdrawn(nil, r, &f)
		if got := len(f.Problems) > 0; got != wrong {
			t.Errorf("an answer after %v: problems %v, want some: %v", answered, f.Problems, wrong)
		}
		if f.Assertions == 0 {
			t.Error("nothing was asserted")
		}
	}
}
