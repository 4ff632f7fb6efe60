package report

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
)

// Document is the JSON form of a report.
type Document struct {
	Failed  bool     `json:"failed"`
	Cases   int      `json:"cases"`
	Harms   int      `json:"runs_with_a_fault"`
	Missing []string `json:"checks_without_a_case,omitempty"`
	Results []Entry  `json:"results"`
}

// Entry is one verdict.
type Entry struct {
	Check    string   `json:"check"`
	Case     string   `json:"case"`
	Subject  string   `json:"subject"`
	Tier     string   `json:"tier"`
	Severity string   `json:"severity"`
	Verdict  string   `json:"verdict"`
	Looked   int      `json:"looked_at"`
	Reason   string   `json:"reason,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

// JSON writes the report for programs.
func JSON(w io.Writer, rep *conformance.Report) error {
	doc := Document{Failed: rep.Failed(), Cases: rep.Cases, Harms: rep.Harms, Results: []Entry{}}
	for _, c := range rep.Missing {
		doc.Missing = append(doc.Missing, c.ID)
	}
	for _, r := range rep.Results {
		e := Entry{Check: r.Check.ID, Case: r.Case, Subject: r.Subject, Tier: string(r.Tier), Severity: string(r.Check.Severity),
			Verdict: string(r.Verdict), Looked: r.Looked, Reason: r.Reason}
		for _, p := range r.Problems {
			text := p.Text
			if p.Diff != "" {
				text += "\n" + p.Diff
			}
			e.Problems = append(e.Problems, text)
		}
		doc.Results = append(doc.Results, e)
	}
	return json.MarshalWrite(w, doc, jsontext.WithIndent("  "))
}
