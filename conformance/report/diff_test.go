package report_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// TestLongLinesKeepTheirDifference checks too that no report grows with the size of a
// case.
func TestLongLinesKeepTheirDifference(t *testing.T) {
	g := NewWithT(t)
	diff := func(want, got string) string {
		rep := sample()
		rep.Results[0].Problems = []conformance.Problem{{Text: "x", Diff: conformance.Diff("want", want, "got", got)}}
		d := report.New(rep, report.About{}).Results
		for _, e := range d {
			if e.Verdict == "fail" {
				return e.Problems[0].Diff
			}
		}
		return ""
	}
	g.Expect(diff("a\nb\n", "a\nc\n")).To(Equal(conformance.Diff("want", "a\nb\n", "got", "a\nc\n")), "short ones stay")
	long := strings.Repeat("ü", 1000)
	got := diff(long+"one"+long+"\n", long+"two"+long+"\n")
	g.Expect(got).To(ContainSubstring("-[… 1940 bytes the same …]" + strings.Repeat("ü", 30) + "one" + strings.Repeat("ü", 30) + "[… 1940 bytes the same …]\n+[… 1940"))
	g.Expect(utf8.ValidString(got)).To(BeTrue())
	g.Expect(diff(long+"\n", long+long+"\n")).To(ContainSubstring("+[… 1940 bytes the same …]"))
	g.Expect(len(diff("", strings.Repeat("x", 5<<20)+"\n"))).To(BeNumerically("<", 3000), "a line without another")
	g.Expect(len(diff(strings.Repeat("y", 1<<20)+"\n", strings.Repeat("x", 1<<20)+"\n"))).To(BeNumerically("<", 6000), "all differs")
	g.Expect(strings.Count(diff("", strings.Repeat("x\n", 9999)), "\n")).To(Equal(401))
}

// TestClippedLinesAreText checks that a line is cut between characters, at each length.
func TestClippedLinesAreText(t *testing.T) {
	g := NewWithT(t)
	const line = "a𝄞üb𝄞"
	for n := 1; n <= len(line)+1; n++ {
		got := report.ClipLine(line, n)
		g.Expect(utf8.ValidString(got)).To(BeTrue(), "%d: %q", n, got)
	}
	g.Expect(report.ClipLine(line, len(line))).To(Equal(line))
	g.Expect(report.ClipLine(line, 9)).To(Equal("a𝄞üb…"))
}
