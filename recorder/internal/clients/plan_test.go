//go:build clients

package clients

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// step is a step for a driver; the verbs are in play.mjs and the drivers.
type step struct {
	Do   string `json:"do"`
	Text string `json:"text,omitempty"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	What string `json:"what,omitempty"`
}

// stepsFor returns the steps of a scenario, or an error if a client cannot see what
// a step waits for.
func stepsFor(s *fixtures.Scenario) ([]step, error) {
	var out []step
	for _, a := range s.Client {
		switch {
		case a.Verb == fixtures.VerbSend:
			out = append(out, step{Do: "send", Text: a.Text})
		case a.Verb == fixtures.VerbAnswer:
			out = append(out, step{Do: "answer", What: a.What})
		case a.Verb == fixtures.VerbStop:
			out = append(out, step{Do: "stop"})
		case a.Verb == fixtures.VerbClose:
			out = append(out, step{Do: "close"})
		case a.Verb == fixtures.VerbOpen && a.What == "resume":
			out = append(out, step{Do: "resume"})
		case a.Verb == fixtures.VerbWait && a.What == "idle":
			// A client sees only the end of the turn.
		case a.Verb == fixtures.VerbWrite:
			out = append(out, step{Do: "write", Name: a.ID, Text: a.Text})
		case a.Verb == fixtures.VerbWait && a.What == "hold":
			text, ok := textBefore(s, a.ID)
			if !ok {
				return nil, fmt.Errorf("%s:%d: no reply has hold %s", s.File, a.Line, a.ID)
			}
			out = append(out, step{Do: "wait text", Text: text})
		case a.Verb == fixtures.VerbWait && (a.What == "ask" || a.What == "end"):
			out = append(out, step{Do: "wait " + a.What})
		case a.Verb == fixtures.VerbWait && a.What == "tool":
			out = append(out, step{Do: "wait tool", ID: a.ID})
		case a.Verb == fixtures.VerbWait && a.What == "file":
			out = append(out, step{Do: "wait file", Name: a.ID})
		default:
			return nil, fmt.Errorf("%s:%d: no client can run the step %s %s", s.File, a.Line, a.Verb, a.What)
		}
	}
	return out, nil
}

// textBefore returns the text of a reply before the hold.
func textBefore(s *fixtures.Scenario, hold string) (string, bool) {
	for _, r := range s.Model[""] {
		i := slices.IndexFunc(r.Parts, func(p fixtures.Part) bool { return p.Hold == hold })
		if i < 0 {
			continue
		}
		var text strings.Builder
		for _, p := range r.Parts[:i] {
			text.WriteString(strings.Join(p.Text, ""))
		}
		return text.String(), true
	}
	return "", false
}
