package permission

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
)

// questions returns the questions that the runtime asked in the replay.
func questions(r *conformance.Run) (out []standin.RuntimeRequest) {
	for _, q := range r.RuntimeRequests {
		if !q.Calls {
			out = append(out, q)
		}
	}
	return out
}

// decisions returns the subject's replies, one for each question, in the order of the
// first replies.
func decisions(r *conformance.Run) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindAnswer && !w.Hook && !seen[w.RequestID] {
			seen[w.RequestID] = true
			out = append(out, w.Answer)
		}
	}
	return out
}
