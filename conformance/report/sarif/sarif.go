// Package sarif answers one question: how does a report stand among the findings
// of static analysis?
//
// It is apart from package report because of its library, which who imports only
// the suite does not need.
package sarif

import (
	"io"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// Write writes one result a bad verdict, at the line of the case that was
// played. What is known to fail is suppressed, with its reason.
func Write(w io.Writer, d *report.Document) error {
	out := sarif.NewReport()
	run := sarif.NewRunWithInformationURI("turnspec", "https://github.com/turnspec/turnspec")
	if d.Turnspec != "" {
		run.Tool.Driver.WithVersion(d.Turnspec)
	}
	run.WithResults([]*sarif.Result{})
	for _, c := range d.Checks {
		run.AddRule(c.ID).WithShortDescription(sarif.NewMultiformatMessageString().WithText(c.Sentence)).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level(c.Severity)))
	}
	place := d.Places()
	for _, e := range d.Results {
		if e.BadOnce() {
			run.AddResult(result(d, e, place))
		}
	}
	out.AddRun(run)
	return out.PrettyWrite(w)
}

func level(severity string) string {
	if severity == string(conformance.Should) {
		return "warning"
	}
	return "error"
}

func result(d *report.Document, e report.Entry, place func(report.Entry) (string, int)) *sarif.Result {
	texts := []string{e.Case + " (" + e.Subject + ", " + e.Tier + ")"}
	if e.Flaky() {
		texts[0] = "flaky: " + texts[0]
	}
	if e.Reason != "" {
		texts = append(texts, e.Reason)
	}
	for i, p := range e.Problems {
		if i == report.MaxProblems {
			break
		}
		texts = append(texts, strings.TrimSpace(p.Text+"\n"+p.Diff))
	}
	texts = append(texts, "rerun: "+d.Rerun(e))
	severity := e.Severity
	if e.Flaky() && !d.Selection.FailOnFlaky {
		severity = string(conformance.Should)
	}
	r := sarif.NewRuleResult(e.Check).WithLevel(level(severity)).WithMessage(sarif.NewTextMessage(strings.Join(texts, "\n"))).
		WithPartialFingerprints(map[string]string{"turnspec/v1": strings.Join([]string{e.Check, e.Subject, e.Tier, e.Case}, " ")})
	where := sarif.NewLocation().WithLogicalLocations([]*sarif.LogicalLocation{sarif.NewLogicalLocation().WithFullyQualifiedName(e.Case)})
	if file, line := place(e); file != "" {
		where.WithPhysicalLocation(sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(file)).
			WithRegion(sarif.NewRegion().WithStartLine(max(line, 1))))
	}
	r.AddLocation(where)
	if e.Known != nil {
		r.AddSuppression(sarif.NewSuppression().WithKind("external").WithJustification(e.Known.Reason))
	}
	return r
}
