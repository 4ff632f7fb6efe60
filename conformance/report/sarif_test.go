package report_test

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	library "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fixtures"
)

// TestSARIF: a bad verdict is a result at a line, a known one is suppressed, and
// the whole fits the schema of SARIF.
func TestSARIF(t *testing.T) {
	g := NewWithT(t)
	must := &conformance.Check{ID: "text.once", Severity: conformance.Must, Sentence: "The text comes once."}
	should := &conformance.Check{ID: "turn.stop", Severity: conformance.Should, Sentence: "A stopped turn ends."}
	run := &conformance.Run{
		Case:   &fixtures.Case{ID: "codex/1/text/plain", File: "fixtures/codex/1/text/plain.txtar"},
		Played: []conformance.PlayedLine{{Line: fixtures.WireLine{Line: 12, Dir: fixtures.Out, Bytes: []byte("{}")}}},
	}
	bad := conformance.Result{Check: must, Case: "codex/1/text/plain", Subject: "mine", Tier: conformance.TierWitness, Verdict: conformance.Fail,
		Problems: []conformance.Problem{{Text: "twice", Diff: "-a\n+aa\n", Line: 12}}, Trial: &conformance.Trial{Run: run}}
	warned, known, good := bad, bad, bad
	warned.Check, warned.Trial = should, nil
	known.KnownFailure = &conformance.KnownFailure{Reason: "until v2"}
	good.Verdict = conformance.Pass
	var b bytes.Buffer
	g.Expect(report.SARIF(&b, report.New(&conformance.Report{Results: []conformance.Result{bad, warned, known, good}}, report.About{Turnspec: "v1"}))).To(Succeed())
	doc, err := library.FromBytes(b.Bytes())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(doc.Validate()).To(Succeed())
	results := doc.Runs[0].Results
	g.Expect(results).To(HaveLen(3))
	g.Expect(*results[0].Message.Text).To(Equal("codex/1/text/plain (mine, witness)\ntwice\n-a\n+aa\nrerun: turnspec run --case codex/1/text/plain --check text.once"))
	where := results[0].Locations[0].PhysicalLocation
	g.Expect(*where.ArtifactLocation.URI).To(Equal("fixtures/codex/1/text/plain.txtar"))
	g.Expect(*where.Region.StartLine).To(Equal(12))
	g.Expect(results[1].Level).To(Equal("warning"))
	g.Expect(*results[2].Suppressions[0].Justification).To(Equal("until v2"))
	b.Reset()
	g.Expect(report.SARIF(&b, report.New(&conformance.Report{}, report.About{}))).To(Succeed())
	g.Expect(b.String()).To(ContainSubstring(`"results": []`))
}
