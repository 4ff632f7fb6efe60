package curve_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance/lab/bench/curve"
	"github.com/turnspec/turnspec/fixtures"
)

// ticks returns a clock that advances by one second with each reading.
func ticks() func() int64 {
	var now int64
	return func() int64 { now += 1e9; return now }
}

// TestSuiteOfFailedChecks measures a run whose checks fail, and none that did not end.
func TestSuiteOfFailedChecks(t *testing.T) {
	const printed = "echo '3 cases and 4 runs with a fault: 7 verdicts'; exit "
	for code, want := range map[string]int{"0": 7, "1": 7, "2": 0} {
		g := NewWithT(t)
		var failures bytes.Buffer
		p, err := curve.Suite(t.Context(), &failures, "sh", "-c", printed+code)
		g.Expect(failures.Len() > 0).To(Equal(code == "1"), code)
		g.Expect(p.N).To(Equal(want), code)
		g.Expect(err == nil).To(Equal(want > 0), code)
	}
	_, err := curve.Suite(t.Context(), io.Discard, "sh", "-c", "exit 1")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("how many cases")))
}

// TestTurnsAreTurns repeats the turn of a recording: each repeat is a turn of its own.
func TestTurnsAreTurns(t *testing.T) {
	for id, a := range map[string]adapters.Transcriber{"codex/newest/text/plain": codex.New(), "claude/newest/tool/both-outputs": claude.New()} {
		g := NewWithT(t)
		c, err := fixtures.Embedded().LoadCase(id)
		g.Expect(err).NotTo(HaveOccurred())
		p, err := curve.Turns(a, c, 30, ticks())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(p.N).To(Equal(30))
		g.Expect(p.CPU).To(Equal(1.0))
		_, err = curve.Turns(a, &fixtures.Case{ID: "x"}, 3, ticks())
		g.Expect(err).To(MatchError(ContainSubstring("no turn")))
	}
}

// TestLogIsReadToItsEnd checks that a log that loses events gives an error and no figure.
func TestLogIsReadToItsEnd(t *testing.T) {
	g := NewWithT(t)
	size := func() float64 { return 7 }
	for _, n := range []int{1, 99, 1000} {
		p, err := curve.Log(context.Background(), &eventlog.Memory{}, n, ticks(), size)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(p.N).To(Equal(n))
		g.Expect(p.Stored).To(Equal(7.0))
	}
}

func TestGrowth(t *testing.T) {
	g := NewWithT(t)
	of := func(cpu ...float64) curve.Curve {
		c := curve.Curve{}
		for i, v := range cpu {
			c.Points = append(c.Points, curve.Point{N: int(math.Pow10(i)), CPU: v})
		}
		return c
	}
	g.Expect(of(0.001, 1, 10, 100).Growth(0.01)).To(BeNumerically("~", 1, 1e-9))
	g.Expect(of(0.001, 1, 100, 10000).Growth(0.01)).To(BeNumerically("~", 10, 1e-9), "the cost of a unit grows as the size")
	g.Expect(math.IsNaN(of(0.001, 1).Growth(0.01))).To(BeTrue())
	g.Expect(curve.Sizes(3, 100_000)).To(Equal([]int{1000, 10_000, 100_000}))
	g.Expect(curve.Sizes(3, 7)).To(Equal([]int{7}))
}
