package report_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/report"
)

func TestRerunNamesTheFault(t *testing.T) {
	g := gomega.NewWithT(t)
	at := func(operator string, line int) report.Problem {
		return report.Problem{Fault: &report.Fault{Operator: operator, Line: line}}
	}
	d := &report.Document{}
	for _, c := range []struct {
		want     string
		problems []report.Problem
	}{
		{"", nil},
		{"", []report.Problem{at("kill", 3), at("kill", 4)}},
		{"", []report.Problem{{}, at("kill", 3)}},
		{" --fault kill@3", []report.Problem{at("kill", 3), at("kill", 3)}},
		{" --fault crlf", []report.Problem{at("crlf", 0)}},
		{" --fault 'split-random(7)'", []report.Problem{at("split-random(7)", 0)}},
	} {
		e := report.Entry{Case: "codex/1/text/plain", Check: "turn.crash-ends", Problems: c.problems}
		g.Expect(d.Rerun(e)).To(gomega.Equal("turnspec run --case codex/1/text/plain --check turn.crash-ends" + c.want))
	}
	d.Selection.CaseFile = "'my case.txtar'"
	g.Expect(d.Rerun(report.Entry{Case: "codex/1/text/plain", Check: "text.once"})).To(gomega.Equal("turnspec run --case 'my case.txtar' --check text.once"))
	d = &report.Document{Selection: report.Selection{Command: "turnspec run -- python3 a.py"}}
	g.Expect(d.Rerun(report.Entry{Case: "codex/1/text/plain", Check: "text.once", Tier: "live"})).To(gomega.Equal("turnspec run --tier live --case codex/1/text/plain --check text.once -- python3 a.py"))
}
