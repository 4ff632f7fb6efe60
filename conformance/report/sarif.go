package report

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// SARIF writes the document as findings of static analysis: one result for each bad verdict,
// at the line of the case that was played. A known failure is suppressed, with its reason.
func SARIF(w io.Writer, d *Document) error {
	r := sarifRun{Results: []sarifResult{}, Language: "en-US", NewlineSequences: []string{"\r\n", "\n"}}
	r.Tool.Driver = sarifDriver{Name: "turnspec", InformationURI: "https://github.com/turnspec/turnspec", Version: d.Turnspec, Language: r.Language}
	for _, c := range d.Checks {
		r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, sarifRule{c.ID, sarifText{c.Sentence}, sarifConfiguration{sarifLevel(c.Severity)}})
	}
	place := d.Places()
	for _, e := range d.Results {
		if e.BadOnce() {
			r.Results = append(r.Results, newSARIFResult(d, e, place))
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(sarifLog{Version: "2.1.0", Schema: sarifSchema, Runs: []sarifRun{r}})
}

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// The types are the parts of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Version string     `json:"version"`
		Schema  string     `json:"$schema"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results          []sarifResult `json:"results"`
		Language         string        `json:"language"`
		NewlineSequences []string      `json:"newlineSequences"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Version        string      `json:"version,omitempty"`
		Language       string      `json:"language"`
		Rules          []sarifRule `json:"rules,omitempty"`
	}
	sarifRule struct {
		ID               string             `json:"id"`
		ShortDescription sarifText          `json:"shortDescription"`
		Default          sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Locations    []sarifLocation    `json:"locations"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysicalLocation `json:"physicalLocation,omitempty"`
		Logical  []sarifLogicalLocation `json:"logicalLocations"`
	}
	sarifLogicalLocation struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifPhysicalLocation struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

func sarifLevel(severity string) string {
	if severity == string(conformance.Should) {
		return "warning"
	}
	return "error"
}

func newSARIFResult(d *Document, e Entry, place func(Entry) (string, int)) sarifResult {
	texts := []string{e.Case + " (" + e.Subject + ", " + e.Tier + ")"}
	if e.Flaky() {
		texts[0] = "flaky: " + texts[0]
	}
	if e.Reason != "" {
		texts = append(texts, e.Reason)
	}
	for i, p := range e.Problems {
		if i == MaxProblems {
			break
		}
		texts = append(texts, strings.TrimSpace(p.Text+"\n"+p.Diff))
	}
	texts = append(texts, "rerun: "+d.Rerun(e))
	severity := e.Severity
	if e.Flaky() && !d.Selection.FailOnFlaky {
		severity = string(conformance.Should)
	}
	at := sarifLocation{Logical: []sarifLogicalLocation{{e.Case}}}
	if file, line := place(e); file != "" {
		at.Physical = &sarifPhysicalLocation{}
		at.Physical.Artifact.URI = file
		at.Physical.Region.StartLine = max(line, 1)
	}
	r := sarifResult{
		RuleID: e.Check, Level: sarifLevel(severity), Message: sarifText{strings.Join(texts, "\n")},
		Fingerprints: map[string]string{"turnspec/v1": strings.Join([]string{e.Check, e.Subject, e.Tier, e.Case}, " ")},
		Locations:    []sarifLocation{at},
	}
	if e.Known != nil {
		r.Suppressions = []sarifSuppression{{"external", e.Known.Reason}}
	}
	return r
}
