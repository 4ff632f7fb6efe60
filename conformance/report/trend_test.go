package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// stored returns a report that ended on a day of a month, as a part.
func stored(rep *conformance.Report, day int) report.Part {
	at := time.Time{}
	if day > 0 {
		at = time.Date(2026, 3, day, 8, 30, 0, 0, time.UTC)
	}
	return report.Part{File: fmt.Sprintf("%d.json", day), Document: report.New(rep, report.About{Turnspec: "v1", At: at})}
}

// TestTrend checks that reports are sorted by time, that each is compared with the one
// before, and that other subjects have their own trend.
func TestTrend(t *testing.T) {
	g := gomega.NewWithT(t)
	other := verdictsOf("1", conformance.Pass)
	other.Results[0].Subject = "other"
	trends := report.NewTrends([]report.Part{
		stored(verdictsOf("1", conformance.Pass, conformance.Fail, conformance.NotTried), 3),
		stored(other, 2),
		stored(verdictsOf("1", conformance.Fail, conformance.Pass, conformance.NotTried), 1),
		stored(verdictsOf("1", conformance.Pass, conformance.Flaky, conformance.NotTried, conformance.Fail), 4),
	})
	g.Expect(trends).To(gomega.HaveLen(2))
	var b strings.Builder
	g.Expect(report.TrendTable(&b, trends, report.Style{})).To(gomega.Succeed())
	g.Expect(b.String()).To(gomega.Equal(`<mine>
run               passed                     fail  flaky  known  not tried  changes
2026-03-01 08:30  1 of 3 checks on claude 1  1     0      0      1
2026-03-03 08:30  1 of 3 checks on claude 1  1     0      0      1          fails now: test.b; fails no more: test.a
2026-03-04 08:30  1 of 4 checks on claude 1  1     1      0      1

other
run               passed                     fail  flaky  known  not tried  changes
2026-03-02 08:30  1 of 1 checks on claude 1  0     0      0      0
`))
	b.Reset()
	g.Expect(report.TrendHTML(&b, trends)).To(gomega.Succeed())
	page := b.String()
	g.Expect(page).NotTo(gomega.MatchRegexp(`(?i)(src|href)="?https?:|<script|<mine>`))
	g.Expect(page).To(gomega.ContainSubstring(`content="default-src &#39;none&#39;;`))
	g.Expect(strings.Count(page, "<rect class=\"failed\" x=")).To(gomega.Equal(3))
	g.Expect(page).To(gomega.MatchRegexp(`<rect class="passed" x="34" y="[0-9.]+" width="20" height="40"><title>2026-03-01 08:30: 1 of 3 checks on claude 1, 1 passed</title>`))
	g.Expect(page).To(gomega.ContainSubstring("<td>fails now: test.b; fails no more: test.a</td>"))
}

// TestTrendWithoutTimes checks that reports without a time keep the order of the arguments.
func TestTrendWithoutTimes(t *testing.T) {
	g := gomega.NewWithT(t)
	trends := report.NewTrends([]report.Part{stored(verdictsOf("1", conformance.Pass), 0), stored(verdictsOf("1", conformance.Fail), 1)})
	g.Expect(trends[0].Points[0].Name).To(gomega.Equal("0.json"))
	g.Expect(trends[0].Points[1].Fails).To(gomega.Equal([]string{"test.a"}))
	g.Expect(report.NewTrends(nil)).To(gomega.BeEmpty())
}

// TestTrendJSON checks that what a table shows is in the JSON too.
func TestTrendJSON(t *testing.T) {
	g := gomega.NewWithT(t)
	var out strings.Builder
	trends := report.NewTrends([]report.Part{stored(verdictsOf("1", conformance.Pass), 1), stored(verdictsOf("1", conformance.Fail), 2)})
	g.Expect(report.TrendJSON(&out, trends)).To(gomega.Succeed())
	var back []report.Trend
	g.Expect(json.Unmarshal([]byte(out.String()), &back)).To(gomega.Succeed())
	g.Expect(back).To(gomega.HaveLen(1))
	g.Expect(back[0].Points).To(gomega.HaveLen(2))
	g.Expect(back[0].Points[1].Fails).To(gomega.Equal(trends[0].Points[1].Fails))
	g.Expect(back[0].Points[1].Fails).NotTo(gomega.BeEmpty())
	g.Expect(back[0].Points[1].Standing).To(gomega.Equal(trends[0].Points[1].Standing))
	g.Expect(back[0].Points[1].File).To(gomega.Equal("2.json"))
}
