package permission

import (
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/faulted"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/standin"
)

// UnsupportedRequest is the check permission.unsupported-request.
var UnsupportedRequest = &conformance.Check{
	ID: "permission.unsupported-request", Source: "wire/codex: server requests that a client does not know", Tiers: []conformance.Tier{conformance.TierWitness},
	Sentence:      "A request of the runtime that the subject does not know gets an error reply at once, and a notice reports it.",
	JudgesWritten: true,
	Faults:        []string{"unknown-request"},
	JudgeFault:    judgeUnsupported,
}

// judgeUnsupported demands one error reply at once to an unknown request, and no
// other change.
func judgeUnsupported(plain, r *conformance.Run, f *conformance.Finding) {
	const id = "weather-"
	var asked *conformance.PlayedLine
	for i, p := range r.Played {
		if strings.Contains(string(p.Line.Bytes), `"`+id) {
			asked = &r.Played[i]
		}
	}
	if asked == nil && r.Hang == "" {
		return // the run had ended before
	}
	before := f.Assertions
	faulted.JudgeHarmless(plain, r, f)
	if f.Assertions == before || r.Hang != "" {
		return
	}
	fail, n := faulted.Failer(r, f), 0
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindClose && w.Process == asked.Line.Process && w.At.Sub(r.Start) <= asked.At {
			return // after stdin is closed no reply is possible
		}
		if w.Kind != standin.KindAnswer || !strings.HasPrefix(w.RequestID, id) {
			continue
		}
		n++
		if w.Answer != standin.Failed && w.Answer != standin.Deny {
			fail("the subject does not know the request, but replies %s", w.Answer)
		}
		if late := w.At.Sub(r.Start) - asked.At; !r.Start.IsZero() && late > perform.PromptLimit {
			fail("the reply comes %v after the request, the limit is %v", late, perform.PromptLimit)
		}
	}
	if n != 1 {
		fail("%d replies to an unknown request, want one error", n)
	}
}
