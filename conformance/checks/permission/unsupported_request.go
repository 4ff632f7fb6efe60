package permission

import (
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/standin"
)

// UnsupportedRequest is the check permission.unsupported-request.
var UnsupportedRequest = &conformance.Check{
	ID: "permission.unsupported-request", Source: "wire/codex: server requests that a client does not know", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Reply with a JSON-RPC \"method not found\" error, or the runtime's error response, to each request that is unknown, and emit a notice.",
	Sentence:      "A request of the runtime that the subject does not know gets an error reply at once, and a notice reports it.",
	JudgesWritten: true,
	Faults:        []string{"unknown-request"},
	JudgeFault:    judgeUnsupported,
}

// judgeUnsupported demands one error reply at once to an unknown request, and no
// other change.
func judgeUnsupported(plain, r *conformance.Run, f *conformance.Finding) {
	const id = "weather-"
	if asked := harmlessRequest(plain, r, f, id); asked != nil {
		judgeOneReply(r, f, asked, id, perform.PromptLimit, func(a string) bool { return a == standin.Failed || a == standin.Deny })
	}
}

// harmlessRequest demands that the request of a fault changes no events. It returns the
// request, whose id has the prefix, or nil if no reply to it can be judged.
func harmlessRequest(plain, r *conformance.Run, f *conformance.Finding, prefix string) *conformance.PlayedLine {
	i := slices.IndexFunc(r.Played, func(p conformance.PlayedLine) bool { return strings.Contains(string(p.Line.Bytes), `"`+prefix) })
	if i < 0 && r.Hang == "" {
		return nil // the run had ended before
	}
	before := f.Assertions
	faulted.JudgeHarmless(plain, r, f)
	if i < 0 || f.Assertions == before || r.Hang != "" {
		return nil
	}
	return &r.Played[i]
}

// judgeOneReply demands one reply to a request, within a limit and one that accept
// allows.
func judgeOneReply(r *conformance.Run, f *conformance.Finding, asked *conformance.PlayedLine, prefix string, limit time.Duration, accept func(answer string) bool) {
	n := 0
	for _, w := range r.ClientActions {
		if runindex.ClosedStdin(r, w, asked) {
			if n == 0 {
				return // no reply was possible any more
			}
			break
		}
		if w.Kind != standin.KindAnswer || !strings.HasPrefix(w.RequestID, prefix) {
			continue
		}
		n++
		if !accept(w.Answer) {
			f.Failf("the subject replies %s", w.Answer)
		}
		if late := w.At.Sub(r.Start) - asked.At; !r.Start.IsZero() && late > limit {
			f.Failf("the reply comes %v after the request, the limit is %v", late, limit)
		}
	}
	if n != 1 {
		f.Failf("%d replies to the request, want one", n)
	}
}
