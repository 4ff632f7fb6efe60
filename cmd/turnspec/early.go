package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// earlyCases is after how many cases the first verdicts are printed. The runner begins with
// one case of each topic.
const earlyCases = 10

// early prints the first verdicts of a run that takes minutes: a summary of the first
// cases, and of each check its first failure.
type early struct {
	out    io.Writer
	width  int // columns of the terminal
	failed map[string]bool
	passed map[string]bool
	summed bool // the summary was printed
}

func newEarly(out io.Writer, width int) *early {
	return &early{out: out, width: width, failed: map[string]bool{}, passed: map[string]bool{}}
}

// add handles the results of a case; it has the form of conformance.Config.Judged.
func (e *early) add(done, total int, results []conformance.Result) {
	for _, r := range results {
		switch {
		case r.Verdict == conformance.Pass:
			e.passed[r.Check.ID] = true
		case !r.Verdict.Bad() || r.KnownFailure != nil || r.Check.Severity != conformance.Must || e.failed[r.Check.ID]:
		default:
			e.failed[r.Check.ID] = true
			fmt.Fprintln(e.out, clipColumns(fmt.Sprintf("first failure of %s: %s: %s", r.Check.ID, r.Case, firstProblem(r)), e.width))
		}
	}
	if e.summed || done != earlyCases || total <= done {
		return
	}
	e.summed = true
	for id := range e.failed {
		delete(e.passed, id)
	}
	fmt.Fprintf(e.out, "the first %d of %d cases: checks passed: %d, failed: %d\n", done, total, len(e.passed), len(e.failed))
}

// firstProblem returns the first line of what failed.
func firstProblem(r conformance.Result) string {
	text := r.Reason
	if len(r.Problems) > 0 {
		text = r.Problems[0].Text
	}
	text, _, _ = strings.Cut(text, "\n")
	return plug.Clip(text)
}
