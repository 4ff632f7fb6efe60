package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// judgeLost: the end of a turn never came, and the runtime went on. What was
// told until then stays, the turn ends, and not as if all had gone well, and the turns behind it are
// told as without the harm.
func judgeLost(plain, r *conformance.Run, f *conformance.Finding) {
	fail := failer(r, f)
	if hangs(r, f) {
		return
	}
	if !played(r, r.Fault.Line) {
		return
	}
	n, ok := sameBefore(plain, r, fail)
	s := state{open: map[string]event.Type{}}
	for _, e := range plain.Events[:n] {
		s.add(e)
	}
	lost := s.running
	if lost == 0 || stops(plain) || slices.ContainsFunc(plain.Steps, func(a conformance.StepResult) bool { return a.Step.What == "now" }) {
		return // whoever stops a turn need not wait for the runtime to end it
	}
	f.Asserted(1)
	if !ok || slices.ContainsFunc(r.Steps, func(a conformance.StepResult) bool { return a.Err != nil }) {
		return // what the user does to a turn that runs may be refused
	}
	end, ended := terminalOf(r, lost)
	if !ended {
		fail("turn %d has no end", lost)
		return
	}
	if a := r.Steps[end.Steps-1].Step.Verb; a == fixtures.VerbClose || a == fixtures.VerbArchive {
		fail("turn %d ends with the session", lost)
	}
	switch d := end.Data.(type) {
	case event.Done:
		if !d.Stopped {
			fail("the runtime has not ended turn %d, and it ends in %s", lost, describe(d))
		}
	case event.Error:
		if d.Code == "" || d.Message == "" {
			fail("the error of turn %d has no code, or no words", lost)
		}
	}
	for turn := lost + 1; ; turn++ {
		want, got := turnTold(plain, turn), turnTold(r, turn)
		if want == "" && got == "" {
			return
		}
		if want != got {
			f.Problems = append(f.Problems, conformance.Problem{Fault: r.Fault, Text: fmt.Sprintf("%s: turn %d is told as another one", r.Fault, turn),
				Diff: conformance.Diff("undisturbed", want, "harmed", got)})
		}
	}
}

// turnTold is what a turn said, which tools it called and how it ended. Of the
// messages nobody can tell which turn took them, when they came between the two.
func turnTold(r *conformance.Run, turn int) string {
	var b, text strings.Builder
	for _, e := range r.Events {
		if e.Turn != turn || e.SubagentID != "" {
			continue
		}
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
