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
	g.Expect(d.Times).To(HaveLen(2))
	g.Expect(d.Times[1].FaultRuns).To(Equal(1))
	for _, write := range []report.Writer{report.JSON, report.Markdown, report.HTML} {
		var b strings.Builder
		g.Expect(write(&b, d)).To(Succeed())
		g.Expect(b.String()).To(ContainSubstring("the end of the turn of message m1"))
	}
	var b strings.Builder
	g.Expect(report.Failures(&b, d, report.Style{})).To(Succeed())
	g.Expect(b.String()).To(ContainSubstring("claude/1/text/slow: 9.0 s and 2.0 s in 1 runs with a fault; the suite waited in vain for the end of the turn of message m1 (8.0 s)\n"))
	g.Expect(b.String()).NotTo(ContainSubstring("claude/1/text/quick"))
	// Every form has the time of each case, quick ones too.
	for _, x := range []struct {
		write report.Writer
		want  string
	}{
		{report.JSON, `{"case":"claude/1/text/quick","subject":"mine","took_ns":1000000000}`},
		{report.JSON, `{"case":"claude/1/text/slow","subject":"mine","took_ns":9000000000,"faults_ns":2000000000,"runs_with_a_fault":1,"waits":`},
		{report.Markdown, "| `claude/1/text/quick` | mine | 1.0 s | 0.0 s | 0 |\n"},
		{report.Markdown, "| `claude/1/text/slow` | mine | 9.0 s | 2.0 s | 1 |\n"},
		{report.Markdown, "Durations: 12.0 s in 2 cases"},
	} {
		g.Expect(written(t, x.write, d)).To(ContainSubstring(x.want))
	}
	// These list the cases that have a verdict.
	rep.Timings = []conformance.Timing{{Case: "codex/1/text/plain", Subject: "mine", Took: 1500 * time.Millisecond}, {Case: "codex/1/text/plain", Subject: "mine", Fault: "kill", Took: time.Second}}
	d = report.New(rep, report.About{})
	xml := written(t, report.JUnit, d)
	g.Expect(junitFits(xml)).To(Succeed())
	g.Expect(xml).To(And(ContainSubstring(`<testcase classname="codex-1.text" name="plain" time="2.500">`), ContainSubstring(`skipped="2" time="2.500">`)))
	g.Expect(written(t, report.HTML, d)).To(ContainSubstring(`"took_ns":2500000000,"times":"1.5 s and 1.0 s in 1 runs with a fault"`))
	for _, write := range []report.Writer{report.JSON, report.JUnit} {
		b.Reset()
		g.Expect(write(&b, d)).To(Succeed())
		g.Expect(b.String()).To(And(ContainSubstring("exit code 3"), ContainSubstring("KeyError: "), Not(ContainSubstring("\x1b"))))
	}
}
