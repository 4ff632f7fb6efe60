// Package sarif writes a report as findings of static analysis, in SARIF. It is not part
// of the stable interface.
package sarif

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// Write writes one result a bad verdict, at the line of the case that was
// played. What is known to fail is suppressed, with its reason.
func Write(w io.Writer, d *report.Document) error {
	r := run{Results: []result{}, Language: "en-US", NewlineSequences: []string{"\r\n", "\n"}}
	r.Tool.Driver = driver{Name: "turnspec", InformationURI: "https://github.com/turnspec/turnspec", Version: d.Turnspec, Language: r.Language}
	for _, c := range d.Checks {
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, rule{c.ID, text{c.Sentence}, configuration{level(c.Severity)}})
	}
	place := d.Places()
	for _, e := range d.Results {
		if e.BadOnce() {
			r.Results = append(r.Results, resultOf(d, e, place))
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(log{Version: "2.1.0", Schema: schema, Runs: []run{r}})
}

const schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// The types are the parts of SARIF 2.1.0 that a report needs.
type (
	log struct {
		Version string `json:"version"`
		Schema  string `json:"$schema"`
		Runs    []run  `json:"runs"`
	}
	run struct {
		Tool struct {
			Driver driver `json:"driver"`
		} `json:"tool"`
		Results          []result `json:"results"`
		Language         string   `json:"language"`
		NewlineSequences []string `json:"newlineSequences"`
	}
	driver struct {
		Name           string `json:"name"`
		InformationURI string `json:"informationUri"`
		Version        string `json:"version,omitempty"`
		Language       string `json:"language"`
		Rules          []rule `json:"rules,omitempty"`
	}
	rule struct {
		ID               string        `json:"id"`
		ShortDescription text          `json:"shortDescription"`
		Default          configuration `json:"defaultConfiguration"`
	}
	text struct {
		Text string `json:"text"`
	}
	configuration struct {
		Level string `json:"level"`
	}
	result struct {
		RuleID       string            `json:"ruleId"`
		Level        string            `json:"level"`
		Message      text              `json:"message"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Locations    []location        `json:"locations"`
		Suppressions []suppression     `json:"suppressions,omitempty"`
	}
	location struct {
		Physical *physicalLocation `json:"physicalLocation,omitempty"`
		Logical  []logicalLocation `json:"logicalLocations"`
	}
	logicalLocation struct {
		Name string `json:"fullyQualifiedName"`
	}
	physicalLocation struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	}
	suppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

func level(severity string) string {
	if severity == string(conformance.Should) {
		return "warning"
	}
	return "error"
}

func resultOf(d *report.Document, e report.Entry, place func(report.Entry) (string, int)) result {
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
	at := location{Logical: []logicalLocation{{e.Case}}}
	if file, line := place(e); file != "" {
		at.Physical = &physicalLocation{}
		at.Physical.Artifact.URI = file
		at.Physical.Region.StartLine = max(line, 1)
	}
	r := result{
		RuleID: e.Check, Level: level(severity), Message: text{strings.Join(texts, "\n")},
		Fingerprints: map[string]string{"turnspec/v1": strings.Join([]string{e.Check, e.Subject, e.Tier, e.Case}, " ")},
		Locations:    []location{at},
	}
	if e.Known != nil {
		r.Suppressions = []suppression{{"external", e.Known.Reason}}
	}
	return r
}
