package permission

import (
	"bytes"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// DenyEnforced is the check permission.deny-enforced.
var DenyEnforced = &conformance.Check{
	ID: "permission.deny-enforced", Source: "claude-code#34046", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Aliases:       []string{"permission.deny-holds"},
	Mend:          "Send the runtime's form of a denial, with the user's words in its message. Allow only if the decision is allow.",
	Sentence:      "A denied call has no effect, and the model receives the denial, with the words of the user if the wire has a place for them.",
	JudgesWritten: true,
	Judge:         judgeDeny,
}

func judgeDeny(t *conformance.Trial, f *conformance.Finding) {
	denied := 0
	all := true
	for _, a := range runindex.Answers(t.Run) {
		if runindex.Denies(a) {
			denied++
		} else {
			all = false
		}
	}
	if denied == 0 {
		return
	}
	f.Asserted(denied)
	if runindex.Runtime(t.Run).ClientRunsTurns {
		judgeDenialsSent(t, f)
		return
	}
	if t.Tier != conformance.TierLive {
		f.Sent = true
		sent := decisions(t.Run)
		for i, want := range runindex.Answers(t.Run) {
			switch {
			case !runindex.Denies(want):
			case i >= len(sent):
				f.Missingf("question %d had to be denied, but was not answered", i+1)
			case want.Text != "" && t.Case != nil && answersWith(t.Case, want.Text) && !wrote(t.Run, want.Text):
				f.Failf("question %d: the user said %q, and the subject did not send it", i+1, want.Text)
			case sent[i] == "allow":
				f.Failf("question %d: the user answered %s, but the subject sent allow", i+1, want.What)
			}
		}
		return
	}
	if all {
		for path, want := range t.Scenario.Workspace {
			if got, there := t.Workspace[path]; !there || string(got) != string(want) {
				f.Failf("the file %s has changed, although every tool call was denied", path)
			}
		}
	}
	results := runindex.ToolResults(t.Run)
	for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
		if d.Status == event.ToolDenied {
			for _, call := range runindex.Calls(t.Run) {
				if runindex.SameCall(t.Run, d.ToolUseID, call.ID) && results[call.ID] == "" && !runindex.StopsTurn(t.Run) {
					f.At(e, "tool %s was denied, but the model got no result", call.ID)
				}
			}
		}
	}
}

// judgeDenialsSent demands that a request to the model holds the words of each denial, where the
// subject itself runs the tools. That a denied tool does not run is tool.client-called.
func judgeDenialsSent(t *conformance.Trial, f *conformance.Finding) {
	f.Sent = true
	for _, a := range runindex.Answers(t.Run) {
		if runindex.Denies(a) && a.Text != "" && !slices.ContainsFunc(t.ClientActions, func(w standin.ClientAction) bool { return runindex.Holds(w.Bytes, a.Text) }) {
			f.Failf("the user denied %s and said %q, but no request to the model holds it", a.ID, a.Text)
		}
	}
}

// answersWith reports whether a recorded answer of the client holds a text.
func answersWith(c *fixtures.Case, text string) bool {
	return slices.ContainsFunc(c.Wire, func(l fixtures.WireLine) bool {
		return l.Dir == fixtures.In && bytes.Contains(l.Bytes, wire.Quote(text))
	})
}

// wrote reports whether the subject sent a text as an answer.
func wrote(r *conformance.Run, text string) bool {
	return slices.ContainsFunc(r.ClientActions, func(a standin.ClientAction) bool {
		return a.Kind == standin.KindAnswer && runindex.Holds(a.Bytes, text)
	})
}
