package report_test

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fixtures"
)

// TestLongLinesAreWhole checks that a play stores long wire lines whole, so that the page
// can unfold them, up to a limit for each line and one for all of them.
func TestLongLinesAreWhole(t *testing.T) {
	g := gomega.NewWithT(t)
	rep := sample()
	run := rep.Results[0].Trial.Run
	run.Played = run.Played[:0]
	sizes := []int{100, 3 << 10, 64 << 10, 64<<10 + 1}
	for range 9 {
		sizes = append(sizes, 60<<10)
	}
	for i, n := range sizes {
		run.Played = append(run.Played, line(i+10, fixtures.Out, strings.Repeat("x", n)))
	}
	wire := report.New(rep, report.About{}).Plays[0].Wire
	sum := 0
	for i, n := range sizes {
		whole := i < 3 || i > 3 && i < 11 // then 512 KiB are used up
		g.Expect(wire[i].Text == strings.Repeat("x", n)).To(gomega.Equal(whole), "line %d of %d bytes", i, n)
		if !whole {
			g.Expect(wire[i].Size).To(gomega.Equal(n))
			g.Expect(len(wire[i].Text)).To(gomega.BeNumerically("<", 3<<10))
		}
		sum += len(wire[i].Text)
	}
	g.Expect(sum).To(gomega.BeNumerically("<", 520<<10))
}
