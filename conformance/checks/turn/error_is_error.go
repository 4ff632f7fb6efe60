package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// ErrorIsError is the check turn.error-is-error.
var ErrorIsError = &conformance.Check{
	ID: "turn.error-is-error", Source: "wire/claude: an API error has subtype success", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"turn", "error"},
	Mend:     "Look at the error flags of the runtime's end, not only at its type: a result of Claude Code may have the subtype success and `is_error`. Emit error with a code.",
	Sentence: "A turn whose last request to the model failed ends in error, with a code.",
	Judge:    judgeErrorIsError,
}

func judgeErrorIsError(t *conformance.Trial, f *conformance.Finding) {
	turns := runindex.TurnsOfRequests(t.Run)
	last := map[int]fixtures.Request{}
	for _, q := range runindex.Requests(t.Run) {
		last[turns[q.Req]] = q
	}
	for turn, q := range last {
		if turn == 0 || q.Ended != fixtures.EndedFailed || runindex.StopsTurn(t.Run) {
			continue
		}
		end, ok := runindex.Of(t.Run).Turn(turn).End()
		if !ok {
			continue // another check judges that
		}
		f.Asserted(1)
		switch d, is := end.Data.(event.Error); {
		case !is || d.Code == "":
			f.At(end, "request %d, the last of turn %d, failed, but the turn ends in %s", q.Req, turn, runindex.Describe(end.Data))
		case d.Message == "":
			f.At(end, "request %d, the last of turn %d, failed, but the error has no message", q.Req, turn)
		}
	}
}
