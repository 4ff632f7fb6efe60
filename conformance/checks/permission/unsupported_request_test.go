package permission

import (
	"testing"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
)

// A program may close its runtime before it has read the last request, but a request
// that it has answered twice was answered twice.
func TestRepliesBeforeClose(t *testing.T) {
	began := time.Now()
	for replies, wrong := range map[int]bool{0: false, 1: false, 2: true} {
		asked := &conformance.PlayedLine{At: time.Second}
		r := &conformance.Run{Tier: conformance.TierProcess, Began: began, Fault: &fault.Fault{Operator: "stale-request"}}
		for range replies {
			r.ClientActions = append(r.ClientActions, standin.ClientAction{
				Kind: standin.KindAnswer, At: began.Add(time.Second), RequestID: fault.StaleRequestID + "1", Answer: standin.Deny,
			})
		}
		r.ClientActions = append(r.ClientActions, standin.ClientAction{Kind: standin.KindClose, At: began.Add(time.Second + time.Millisecond)})
		var f conformance.Finding
		judgeOneReply(r, &f, asked, fault.StaleRequestID, 0, func(a string) bool { return a == standin.Deny })
		if got := len(f.Problems) > 0; got != wrong {
			t.Errorf("%d replies before the close: problems %v, want some: %v", replies, f.Problems, wrong)
		}
	}
}
