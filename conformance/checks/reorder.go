package checks

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// judgeReordered: what is told of each tool and each agent is the same, whichever
// of two came first.
func judgeReordered(plain, r *conformance.Run, f *conformance.Finding) {
	if !played(plain, r.Fault.Line) {
		return
	}
	f.Asserted(1)
	fail := failer(r, f)
	if r.Hang != "" {
		fail("the subject hangs: %s", r.Hang)
		return
	}
	want, order := byWork(plain)
	got, more := byWork(r)
	for _, of := range append(order, more...) {
		if want[of] != got[of] {
			f.Problems = append(f.Problems, conformance.Problem{
				Fault: r.Fault, Text: r.Fault.String() + ": what is told of " + of + " differs",
				Diff: conformance.Diff("undisturbed", want[of], "harmed", got[of]),
			})
			return
		}
	}
}

// byWork are the events of each tool, task and agent of a run.
func byWork(r *conformance.Run) (told map[string]string, order []string) {
	all := map[string]*strings.Builder{}
	for i, e := range r.Events {
		of := "agent " + e.SubagentID
		switch d := e.Data.(type) {
		case event.ToolStart:
			of = "tool " + d.ToolUseID
		case event.ToolOutput:
			of = "tool " + d.ToolUseID
		case event.ToolResult:
			of = "tool " + d.ToolUseID
		case event.Task:
			of = "task " + d.TaskID
		}
		if of = r.Recorded(of); all[of] == nil {
			all[of], order = &strings.Builder{}, append(order, of)
		}
		all[of].WriteString(r.Canonical()[i] + "\n")
	}
	told = map[string]string{}
	for of, b := range all {
		told[of] = b.String()
	}
	return told, order
}
