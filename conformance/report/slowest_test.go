package report_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// TestSlowestCases checks that the slowest cases are listed with what the suite waited
// for, and that a failure shows the stderr and the exit of the subject's program without
// control characters.
func TestSlowestCases(t *testing.T) {
	g := NewWithT(t)
	rep := sample()
	rep.Timings = []conformance.Timing{
		{Case: "claude/1/text/quick", Subject: "mine", Took: time.Second},
		{Case: "claude/1/text/slow", Subject: "mine", Took: 9 * time.Second, Waits: []conformance.Wait{{For: "the end of the turn of message m1", Took: 8 * time.Second}}},
		{Case: "claude/1/text/slow", Subject: "mine", Fault: "kill", Took: 2 * time.Second},
	}
	for _, r := range rep.Results {
		if r.Trial != nil {
			r.Trial.Program = []conformance.ProgramOutput{{Stderr: "Traceback\nKeyError: \x1b[31mturn", Exit: "exit code 3"}}
		}
	}
	d := report.New(rep, report.About{})
	g.Expect(d.Slowest).To(HaveLen(2))
	g.Expect(d.Slowest[0].FaultRuns).To(Equal(1))
	for _, write := range []report.Writer{report.JSON, report.Markdown, report.HTML} {
		var b strings.Builder
		g.Expect(write(&b, d)).To(Succeed())
		g.Expect(b.String()).To(ContainSubstring("the end of the turn of message m1"))
	}
	var b strings.Builder
	g.Expect(report.Failures(&b, d, report.Style{})).To(Succeed())
	g.Expect(b.String()).To(ContainSubstring("claude/1/text/slow: 9.0 s and 2.0 s in 1 runs with a fault; the suite waited in vain for the end of the turn of message m1 (8.0 s)\n"))
	g.Expect(b.String()).NotTo(ContainSubstring("claude/1/text/quick"))
	for _, write := range []report.Writer{report.JSON, report.JUnit} {
		b.Reset()
		g.Expect(write(&b, d)).To(Succeed())
		g.Expect(b.String()).To(And(ContainSubstring("exit code 3"), ContainSubstring("KeyError: "), Not(ContainSubstring("\x1b"))))
	}
}
