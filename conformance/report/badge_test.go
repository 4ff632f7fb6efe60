package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// verdictsOf returns a report of one verdict on each of several checks, of cases of a
// version.
func verdictsOf(version string, verdicts ...conformance.Verdict) *conformance.Report {
	rep := &conformance.Report{Cases: 1}
	for i, v := range verdicts {
		rep.Results = append(rep.Results, conformance.Result{Check: &conformance.Check{ID: "test." + string(rune('a'+i))}, Case: "claude/" + version + "/text/plain", Subject: "<mine>", Tier: conformance.TierProcess, Verdict: v})
	}
	return rep
}

// TestBadge checks what counts as passed, and that no badge is green for nothing.
func TestBadge(t *testing.T) {
	all := []conformance.Verdict{conformance.Pass, conformance.Sent}
	known := verdictsOf("1", conformance.Pass, conformance.Fail)
	known.Results[1].KnownFailure = &conformance.KnownFailure{Reason: "x"}
	versions := verdictsOf("1", conformance.Pass)
	versions.Results = append(versions.Results, verdictsOf("2", conformance.Pass).Results...)
	codex := verdictsOf("1", conformance.Pass).Results[0]
	codex.Case = "codex/3/text/plain"
	versions.Results = append(versions.Results, codex)
	for _, x := range []struct {
		rep    *conformance.Report
		text   string
		colour string
	}{
		{verdictsOf("1", all...), "2 of 2 checks on claude 1", "brightgreen"},
		{verdictsOf("1", append(all, conformance.NotApplicable)...), "2 of 2 checks on claude 1", "brightgreen"},
		{verdictsOf("1", append(all, conformance.NotTried, conformance.NotExpressible, conformance.Unrecorded)...), "2 of 5 checks on claude 1", "green"},
		{verdictsOf("1", append(all, conformance.Flaky)...), "2 of 3 checks on claude 1", "yellow"},
		{known, "1 of 2 checks on claude 1", "yellow"},
		{verdictsOf("1", append(all, conformance.Fail)...), "2 of 3 checks on claude 1", "red"},
		{verdictsOf("1", conformance.NotTried), "0 of 1 checks on claude 1", "red"},
		{&conformance.Report{}, "0 of 0 checks", "red"},
		{versions, "1 of 1 checks on claude (2 versions) and codex 3", "brightgreen"},
	} {
		g := gomega.NewWithT(t)
		d := report.New(x.rep, report.About{})
		g.Expect(written(t, report.Shields, d)).To(gomega.MatchJSON(`{"schemaVersion":1,"label":"Turnspec","message":"` + x.text + `","color":"` + x.colour + `"}`))
		svg := written(t, report.Badge, d)
		g.Expect(svg).To(gomega.ContainSubstring("<title>Turnspec: " + x.text + "</title>"))
		g.Expect(svg).NotTo(gomega.MatchRegexp(`href|url\(http|%!`))
		dec := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := dec.Token(); err != nil {
				g.Expect(errors.Is(err, io.EOF)).To(gomega.BeTrue(), "the image is XML: %v", err)
				break
			}
		}
		g.Expect(written(t, report.Markdown, d)).To(gomega.ContainSubstring("\n" + x.text + "\n"))
	}
}
