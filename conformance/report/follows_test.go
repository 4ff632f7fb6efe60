package report_test

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fakes/fault"
)

// together returns a report of failures in one run of a case, in the order of the names,
// each with its problem.
func together(problems map[string]conformance.Problem, change func(r *conformance.Result), names ...string) *conformance.Report {
	one := sample().Results[0]
	rep := &conformance.Report{Cases: 1}
	for _, name := range names {
		r := one
		r.Check = &conformance.Check{ID: name, Sentence: "It holds."}
		r.Problems = []conformance.Problem{problems[name]}
		change(&r)
		rep.Results = append(rep.Results, r)
	}
	return rep
}

func follows(d *report.Document) map[string]string {
	out := map[string]string{}
	for _, e := range d.Results {
		out[e.Check] = e.Follows
	}
	return out
}

// TestFollows checks that the failures of a run follow the first one on the wire, wherever
// it is in the list, and which failures head or follow nothing.
func TestFollows(t *testing.T) {
	g := gomega.NewWithT(t)
	killed := *sample().Results[0].Trial.Run
	killed.Fault = &fault.Fault{Operator: "kill", Kind: fault.Terminal, Place: 2, Line: 12}
	rep := together(map[string]conformance.Problem{
		"a.event": {Text: "wrong", Seq: 4}, // after three lines
		"b.line":  {Text: "wrong", Line: 11},
		"c.gone":  {Text: "missing"},
		"d.warn":  {Text: "wrong", Line: 10},
		"e.known": {Text: "wrong", Line: 10},
		"f.fault": {Text: "wrong", Line: 13, Fault: killed.Fault},
		"g.fault": {Text: "missing", Fault: killed.Fault},
	}, func(r *conformance.Result) {
		switch {
		case r.Check.ID == "d.warn":
			r.Check.Severity = conformance.Should
		case r.Check.ID == "e.known":
			r.KnownFailure = &conformance.KnownFailure{Reason: "x"}
		case strings.HasSuffix(r.Check.ID, ".fault"):
			r.Trial = &conformance.Trial{Run: r.Trial.Run, Faulted: []*conformance.Run{&killed}}
		}
	}, "a.event", "b.line", "c.gone", "d.warn", "e.known", "f.fault", "g.fault")
	d := report.New(rep, report.About{})
	g.Expect(follows(d)).To(gomega.Equal(map[string]string{
		"a.event": "b.line", "b.line": "", "c.gone": "b.line", "d.warn": "b.line", "e.known": "", "f.fault": "", "g.fault": "f.fault",
	}))
	g.Expect(d.Results[0].Problems[0].Line).To(gomega.Equal(12), "the line of the file that caused the event")

	// What reports that the run did not end comes first.
	rep = together(map[string]conformance.Problem{"a.call": {Text: "close failed", Line: 10}, "b.returns": {Text: "the run did not end", Hung: true}, "c.gone": {Text: "missing"}},
		func(*conformance.Result) {}, "a.call", "b.returns", "c.gone")
	g.Expect(follows(report.New(rep, report.About{}))).To(gomega.Equal(map[string]string{"a.call": "b.returns", "b.returns": "", "c.gone": "b.returns"}))

	// Without a known place on the wire nothing is first.
	rep = together(nil, func(*conformance.Result) {}, "a.x", "b.x")
	g.Expect(follows(report.New(rep, report.About{}))).To(gomega.Equal(map[string]string{"a.x": "", "b.x": ""}))
}

// TestFollowersAreListed checks that each form lists the follow-on failures below the
// first one, and counts all of them.
func TestFollowersAreListed(t *testing.T) {
	g := gomega.NewWithT(t)
	rep := together(map[string]conformance.Problem{"a.late": {Text: "it is late\nby a second", Seq: 4}, "b.first": {Text: "it is wrong", Line: 11}, "c.gone": {Text: "it is missing"}},
		func(*conformance.Result) {}, "a.late", "b.first", "c.gone")
	d := report.New(rep, report.About{})
	list := "  follows: 2 checks failed later in the same run (--check NAME shows one alone)\n    a.late: it is late\n    c.gone: it is missing\n"
	var b strings.Builder
	g.Expect(report.Failures(&b, d, report.Style{})).To(gomega.Succeed())
	g.Expect(b.String()).To(gomega.And(gomega.HavePrefix("\nFAIL codex/1/text/plain [witness] b.first"), gomega.ContainSubstring("--check b.first\n"+list)))
	g.Expect(strings.Count(b.String(), "FAIL")).To(gomega.Equal(1))
	g.Expect(report.CaseFailures(conformance.Config{}, rep.Results, "")).To(gomega.Equal(b.String()))
	b.Reset()
	g.Expect(report.Table(&b, d, report.Style{})).To(gomega.Succeed())
	g.Expect(b.String()).To(gomega.MatchRegexp(`a\.late +FAIL 1 of 1 cases, 1 follow\nb\.first +FAIL 1 of 1 cases\n`))
	g.Expect(written(t, report.JSON, d)).To(gomega.ContainSubstring(`"check":"c.gone","case":"codex/1/text/plain","subject":"mine","tier":"witness","severity":"MUST","verdict":"fail","assertions":2,"problems":[{"text":"it is missing"}],"follows":"b.first","rerun":"turnspec run --case codex/1/text/plain --check c.gone"}`))
	md := written(t, report.Markdown, d)
	g.Expect(md).To(gomega.And(gomega.ContainSubstring("| `a.late` | mine | 1 (1 follow) |"), gomega.ContainSubstring(list)))
	g.Expect(strings.Count(md, "<details>")).To(gomega.Equal(1))
	xml := written(t, report.JUnit, d)
	g.Expect(xml).To(gomega.And(gomega.ContainSubstring(`message="a.late, b.first, c.gone"`), gomega.ContainSubstring("follows: 2 checks failed later")))
	g.Expect(strings.Count(xml, "rerun: ")).To(gomega.Equal(1))
}
