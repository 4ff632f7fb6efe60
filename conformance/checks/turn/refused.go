package turn

import (
	"context"
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// Refused is the check turn.refused.
var Refused = &conformance.Check{
	ID: "turn.refused", Source: "clients that wait for the end of a turn that never began", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"error"},
	Mend:       "Handle the error reply to each request, also one that names its request by another member than the id. If the request began a turn, return the error from Send or end that turn with error.",
	Sentence:   "If the runtime rejects a request, the call fails, or an error or a notice reports it. No call waits for the reply forever.",
	Faults:     []string{"error-reply", "reply-without-id"},
	JudgeFault: judgeRefused,
}

// judgeRefused judges a run in which a request got an error reply.
func judgeRefused(plain, r *conformance.Run, f *conformance.Finding) {
	if hangs(r, f) {
		return
	}
	if !runindex.Played(r, r.Fault.Line) || !runindex.Played(r, r.Fault.Refuses) {
		return // this subject did not write the request
	}
	f.Asserted(1)
	n, ok := sameBefore(plain, r, f)
	if !ok || closedAfter(r, 0) <= runindex.LineOf(r, r.Fault.Line).At {
		return
	}
	for _, a := range r.Steps {
		if a.Err == nil {
			continue
		}
		if errors.Is(a.Err, context.DeadlineExceeded) {
			f.Failf("%s waited for a reply until its context ended, but the runtime had rejected the request", runindex.StepName(a.Step))
			return
		}
		var typed *adapters.OpenError
		if a.Step.Verb == fixtures.VerbOpen && !perform.NotStarted(a.Err) && (!errors.As(a.Err, &typed) || typed.Code == "") {
			f.Failf("the error of Open has none of the codes of event error (start_failure, invalid_request …): %v", a.Err)
		}
		return // the error reports it
	}
	for _, e := range r.Events[n:] {
		if d, notice := e.Data.(event.Notice); e.Type() == event.TypeError || notice && d.Code == event.NoticeRefused {
			return
		}
	}
	if !r.Supports("notice") {
		return
	}
	f.Failf("no call fails, and neither an error nor a notice reports it")
}
