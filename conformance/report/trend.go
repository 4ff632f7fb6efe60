package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report/table"
)

// Trend is how the verdicts on the same subjects changed from report to report.
type Trend struct {
	Subject string       `json:"subject"` // the subjects of the reports
	Points  []TrendPoint `json:"points"`
}

// TrendPoint is one report of a trend.
type TrendPoint struct {
	Standing  `json:",inline"`
	Name      string                      `json:"name"` // when it ran, or else its file
	File      string                      `json:"file"`
	Counts    map[conformance.Verdict]int `json:"verdicts"`
	Known     int                         `json:"known"`         // known failures, which Counts does not have
	Fails     []string                    `json:"fails_now"`     // the checks that failed, and did not in the report before
	FailsNot  []string                    `json:"fails_no_more"` // the checks that failed in the report before, and did not in this one
	Unsettled int                         `json:"unsettled"`     // checks that neither passed nor failed
}

// NewTrends returns a trend for each set of subjects, in the order in which they ran. If a
// report does not hold when it ran, the order is that of the parts.
func NewTrends(parts []Part) []Trend {
	parts = slices.Clone(parts)
	if !slices.ContainsFunc(parts, func(p Part) bool { return p.At == "" }) {
		slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(a.At, b.At) })
	}
	var out []Trend
	last := map[string]map[string]bool{}
	for _, p := range parts {
		subject := strings.Join(p.Subjects(), ", ")
		i := slices.IndexFunc(out, func(t Trend) bool { return t.Subject == subject })
		if i < 0 {
			i = len(out)
			out = append(out, Trend{Subject: subject})
		}
		failed := map[string]bool{}
		for _, e := range p.Results {
			failed[e.Check] = failed[e.Check] || e.BadOnce()
		}
		x := TrendPoint{Standing: p.Standing(), Name: p.File, File: p.File}
		x.Unsettled = x.Total - x.Passed - x.Failed
		x.Counts, x.Known = p.countVerdicts()
		if at, err := time.Parse(time.RFC3339, p.At); err == nil {
			x.Name = at.Format("2006-01-02 15:04")
		}
		if before := last[subject]; before != nil {
			for check, bad := range failed {
				if was, judged := before[check]; judged && bad && !was {
					x.Fails = append(x.Fails, check)
				} else if judged && !bad && was {
					x.FailsNot = append(x.FailsNot, check)
				}
			}
			slices.Sort(x.Fails)
			slices.Sort(x.FailsNot)
		}
		last[subject] = failed
		out[i].Points = append(out[i].Points, x)
	}
	return out
}

// countVerdicts counts the verdicts, and known failures separately.
func (d *Document) countVerdicts() (n map[conformance.Verdict]int, known int) {
	n = map[conformance.Verdict]int{}
	for _, e := range d.Results {
		if e.Known != nil {
			known++
			continue
		}
		n[conformance.Verdict(e.Verdict)]++
	}
	return n, known
}

// Subjects returns the subjects with results, in their order.
func (d *Document) Subjects() []string {
	var out []string
	for _, e := range d.Results {
		if !slices.Contains(out, e.Subject) {
			out = append(out, e.Subject)
		}
	}
	return out
}

// Changes says which checks fail since this report, and which do not any more.
func (p TrendPoint) Changes() string {
	var parts []string
	if len(p.Fails) > 0 {
		parts = append(parts, "fails now: "+strings.Join(p.Fails, ", "))
	}
	if len(p.FailsNot) > 0 {
		parts = append(parts, "fails no more: "+strings.Join(p.FailsNot, ", "))
	}
	return strings.Join(parts, "; ")
}

// columns returns the cells of the point in a table.
func (p TrendPoint) columns() []string {
	count := func(v conformance.Verdict) string { return strconv.Itoa(p.Counts[v]) }
	return []string{p.Name, p.String(), count(conformance.Fail), count(conformance.Flaky), strconv.Itoa(p.Known), count(conformance.NotTried), p.Changes()}
}

// trendHead names the columns.
var trendHead = []string{"run", "passed", "fail", "flaky", "known", "not tried", "changes"}

// TrendJSON writes the trends for programs.
func TrendJSON(w io.Writer, trends []Trend) error {
	b, err := json.Marshal(trends, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}

// TrendTable writes the trends as text.
func TrendTable(w io.Writer, trends []Trend, st Style) error {
	out := table.New(w)
	for i, t := range trends {
		if i > 0 {
			out.Printf("\n")
		}
		if t.Subject != "" {
			out.Printf("%s\n", t.Subject)
		}
		var head []string
		for _, name := range trendHead {
			head = append(head, st.Dim(name))
		}
		rows := [][]string{head}
		for _, p := range t.Points {
			cells := p.columns()
			if p.Red {
				cells[1] = st.Bad(cells[1])
			}
			rows = append(rows, cells)
		}
		out.Columns("", rows)
	}
	return out.Err()
}
