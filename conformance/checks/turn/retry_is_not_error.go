package turn

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// RetryIsNotError is the check turn.retry-is-not-error.
var RetryIsNotError = &conformance.Check{
	ID: "turn.retry-is-not-error", Source: "adapters that take a message with willRetry for the end", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"turn", "error"},
	Mend:     "If the runtime says that it will retry, emit a notice at most. End the turn only at the runtime's end of the turn.",
	Sentence: "A request that the runtime retries successfully is no error.",
	Judge:    judgeRetry,
}

func judgeRetry(t *conformance.Trial, f *conformance.Finding) {
	turns := runindex.TurnsOfRequests(t.Run)
	reqs := runindex.Requests(t.Run)
	for i, q := range reqs {
		turn := turns[q.Req]
		if turn == 0 || !slices.Contains(q.New, "retry") || q.Ended != fixtures.EndedComplete || i+1 < len(reqs) && turns[reqs[i+1].Req] == turn {
			continue
		}
		f.Asserted(1)
		for e, d := range runindex.EventsOf[event.Error](t.Run) {
			if e.Turn == turn && e.SubagentID == "" {
				f.At(e, "turn %d was retried and completed, and the subject emitted %s", turn, runindex.Describe(d))
			}
		}
	}
}
