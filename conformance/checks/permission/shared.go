package permission

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
)

// questions are those that the runtime asked in the play, and the recording's
// client answered.
func questions(r *conformance.Run) (out []standin.RuntimeRequest) {
	for _, a := range r.RuntimeRequests {
		if a.Expected && !a.Calls {
			out = append(out, a)
		}
	}
	return out
}

// decisions are the subject's replies, one a question, in the order of the
// first ones.
func decisions(r *conformance.Run) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindAnswer && w.Asked != "hook_callback" && !seen[w.RequestID] {
			seen[w.RequestID] = true
			out = append(out, w.Answer)
		}
	}
	return out
}
