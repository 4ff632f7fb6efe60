package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// LostEnd is the check turn.lost-end.
var LostEnd = &conformance.Check{
	ID: "turn.lost-end", Source: "claude-code#1920: no result at the end of the stream", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"turn", "error"},
	Mend:       "If the runtime begins another turn or becomes idle while a turn is open, end the open turn with an error first.",
	Sentence:   "If the runtime never ends a turn but continues, the turn ends in an error or as stopped, and the next message begins another turn.",
	Faults:     []string{"lost-end"},
	JudgeFault: func(plain, r *conformance.Run, f *conformance.Finding) { judgeLost(plain, r, f, false) },
}

// judgeLost judges a run in which the runtime did not end a turn, or not in a way that each
// subject can read, and continued. Events before the fault stay, the turn ends, and the turns
// after it are the same as without the fault. The turn does not look successful, unless the
// subject may have read its end.
func judgeLost(plain, r *conformance.Run, f *conformance.Finding, readable bool) {
	if hangs(r, f) {
		return
	}
	if !runindex.Played(r, r.Fault.Line) {
		return
	}
	n, ok := sameBefore(plain, r, f)
	s := state{open: map[string]event.Type{}}
	for _, e := range r.Events[:n] {
		s.add(e)
	}
	lost := s.running
	if lost == 0 || runindex.StopsTurn(plain) || slices.ContainsFunc(plain.Steps, func(a conformance.StepResult) bool { return a.Step.What == "now" }) {
		return // a stop may end the turn before the runtime does
	}
	if !continues(r) {
		return // for this client the runtime hangs, which turn.stall-ends judges
	}
	f.Asserted(1)
	if !ok || slices.ContainsFunc(r.Steps, func(a conformance.StepResult) bool { return a.Err != nil }) {
		return // the runtime may reject a step during a turn
	}
	end, ended := runindex.Of(r).Turn(lost).End()
	if !ended {
		f.Failf("turn %d has no end", lost)
		return
	}
	if a := r.Steps[end.Steps-1].Step.Verb; a == fixtures.VerbClose || a == fixtures.VerbArchive {
		f.Failf("turn %d ends with the session", lost)
	}
	switch d := end.Data.(type) {
	case event.Done:
		if !d.Stopped && !readable {
			f.Failf("the runtime did not end turn %d, but it ends in %s", lost, runindex.Describe(d))
		}
	case event.Error:
		if d.Code == "" || d.Message == "" {
			f.Failf("the error of turn %d has no code or no message", lost)
		}
	}
	for turn := lost + 1; ; turn++ {
		want, got := summary(plain, turn), summary(r, turn)
		if want == "" && got == "" {
			return
		}
		if want != got {
			f.Problems = append(f.Problems, conformance.Problem{Text: fmt.Sprintf("the events of turn %d differ", turn),
				Diff: conformance.Diff("without the fault", want, "with the fault", got)})
		}
	}
}

// continues reports whether the subject received a line of the runtime after the fault
// and before it closed the session. A client that asked for no states gets none, as if
// the runtime hung.
func continues(r *conformance.Run) bool {
	from := 1 + slices.IndexFunc(r.Played, func(p conformance.PlayedLine) bool { return p.Line.Line == r.Fault.Line })
	until := len(r.Played)
	if i := slices.IndexFunc(r.Steps, func(a conformance.StepResult) bool { return a.Step.Verb == fixtures.VerbClose && a.Line >= from }); i >= 0 {
		until = r.Steps[i].Line
	}
	return slices.ContainsFunc(r.Played[from:until], func(p conformance.PlayedLine) bool { return p.Line.Dir == fixtures.Out })
}

// summary returns the text of a turn, its tool calls and its end. It leaves out
// messages: one that comes between two turns may belong to either.
func summary(r *conformance.Run, turn int) string {
	var b, text strings.Builder
	x := runindex.Of(r).Turn(turn)
	if x == nil {
		return ""
	}
	for _, e := range x.Events {
		switch d := e.Data.(type) {
		case event.Delta:
			text.WriteString(d.Text)
		case event.ToolStart:
			fmt.Fprintf(&b, "tool %s\n", d.ToolUseID)
		}
		if e.Terminal() {
			fmt.Fprintf(&b, "text %q\n%s\n", text.String(), e.Type())
		}
	}
	return b.String()
}
