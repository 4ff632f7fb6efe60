package tool

import (
	"fmt"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
)

// ClientCancelled is the check tool.client-cancelled.
var ClientCancelled = &conformance.Check{
	ID: "tool.client-cancelled", Source: "wire/claude: control_cancel_request, notifications/cancelled; wire/codex: turn/interrupt", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:  []string{"tool.client-let-go"},
	Mend:     "Give each call a context of its own, and cancel it when the runtime withdraws the call, the turn is stopped or the session ends.",
	Sentence: "If the runtime cancels a call of a tool or hook of the client, or the session ends, the context of the call ends at once.",
	Judge:    judgeCancelledCalls,
}

// judgeCancelledCalls compares the times at which the runtime cancelled calls with the
// times at which their contexts ended, both in the order of the calls.
func judgeCancelledCalls(t *conformance.Trial, f *conformance.Finding) {
	var ended []conformance.BlockedCall
	for _, w := range t.BlockedCalls {
		if w.Cancelled {
			ended = append(ended, w)
		}
		if !w.Over {
			f.Asserted(1)
			f.Failf("%s still runs: the session has ended, but the context of the call has not", w.Name)
		}
	}
	margin := time.Duration(0) // in virtual time
	if t.Tier == conformance.TierProcess {
		margin = perform.PromptLimit
	}
	for _, a := range t.RuntimeRequests {
		if a.Withdrawal == nil || !a.Calls || len(t.BlockedCalls) == 0 {
			continue
		}
		f.Asserted(1)
		back := runindex.LineOf(t.Run, a.Withdrawal.Line)
		switch {
		case len(ended) == 0:
			f.Problems = append(f.Problems, conformance.Problem{Line: a.Withdrawal.Line, Text: fmt.Sprintf("the runtime cancelled request %s (%s), but no context of a tool or hook ended", a.ID, a.Method)})
			return
		case ended[0].At > back.At+margin:
			f.Problems = append(f.Problems, conformance.Problem{Line: a.Withdrawal.Line, Text: fmt.Sprintf("the runtime cancelled request %s (%s), and the context of %s ended %v later", a.ID, a.Method, ended[0].Name, ended[0].At-back.At)})
		}
		ended = ended[1:]
	}
}
