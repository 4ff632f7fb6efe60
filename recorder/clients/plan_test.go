//go:build clients

package clients

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// act is something that a driver does; see the verbs of play.mjs and the
// drivers.
type act struct {
	Do   string `json:"do"`
	Text string `json:"text,omitempty"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	What string `json:"what,omitempty"`
}

// acts are those of a scenario, as far as a client can see what they wait for.
func acts(s *fixtures.Scenario) ([]act, error) {
	var out []act
	for _, a := range s.Client {
		switch {
		case a.Verb == fixtures.VerbSend:
			out = append(out, act{Do: "send", Text: a.Text})
		case a.Verb == fixtures.VerbAnswer:
			out = append(out, act{Do: "answer", What: a.What})
		case a.Verb == fixtures.VerbStop:
			out = append(out, act{Do: "stop"})
		case a.Verb == fixtures.VerbClose:
			out = append(out, act{Do: "close"})
		case a.Verb == fixtures.VerbOpen && a.What == "resume":
			out = append(out, act{Do: "resume"})
		case a.Verb == fixtures.VerbWait && a.What == "idle":
			// No client sees more of it than the end of the turn.
		case a.Verb == fixtures.VerbWrite:
			out = append(out, act{Do: "write", Name: a.ID, Text: a.Text})
		case a.Verb == fixtures.VerbWait && a.What == "hold":
			text, ok := before(s, a.ID)
			if !ok {
				return nil, fmt.Errorf("%s:%d: no reply has hold %s", s.File, a.Line, a.ID)
			}
			out = append(out, act{Do: "wait text", Text: text})
		case a.Verb == fixtures.VerbWait && (a.What == "ask" || a.What == "end"):
			out = append(out, act{Do: "wait " + a.What})
		case a.Verb == fixtures.VerbWait && a.What == "tool":
			out = append(out, act{Do: "wait tool", ID: a.ID})
		case a.Verb == fixtures.VerbWait && a.What == "file":
			out = append(out, act{Do: "wait file", Name: a.ID})
		default:
			return nil, fmt.Errorf("%s:%d: no client can %s %s", s.File, a.Line, a.Verb, a.What)
		}
	}
	return out, nil
}

// before is the text that a reply has said when it comes to the hold.
func before(s *fixtures.Scenario, hold string) (string, bool) {
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
