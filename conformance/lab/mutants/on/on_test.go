package on_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/lab/mutants/on"
)

// TestSwitchChangesOnlyItsPlace: each place returns the original result until its
// own mutant is on.
func TestASwitchChangesItsPlaceAlone(t *testing.T) {
	yes, no := func() bool { return true }, func() bool { return false }
	n := 7
	for name, x := range map[string]struct {
		do        func() any
		off, isOn any
	}{
		"keep":                {func() any { return on.Keep(1) }, true, false},
		"not":                 {func() any { return on.Not(1, true) }, true, false},
		"and":                 {func() any { return on.And(1, true, no) }, false, true},
		"and, second unasked": {func() any { return on.And(1, false, yes) }, false, true},
		"or":                  {func() any { return on.Or(1, true, no) }, true, false},
		"or, second asked":    {func() any { return on.Or(1, false, yes) }, true, false},
		"less at its edge":    {func() any { return on.Less(1, 2, 3, 3) }, false, true},
		"less":                {func() any { return on.Less(2, 1, 3, 4) }, true, false},
		"greater at its edge": {func() any { return on.LessSwapped(1, 2, 3, 3) }, false, true},
		"at most at its edge": {func() any { return on.LessEqual(1, 2, 3, 3) }, true, false},
		"at most":             {func() any { return on.LessEqual(2, 1, 4, 3) }, false, true},
		"at least":            {func() any { return on.LessEqualSwapped(2, 1, 4, 3) }, true, false},
		"add":                 {func() any { return on.Add(1, 5, 2) }, 7, 3},
		"sub":                 {func() any { return on.Sub(1, 5, 2) }, 3, 7},
		"mul":                 {func() any { return on.Mul(1, 6, 2) }, 12, 3},
		"quo":                 {func() any { return on.Quo(1, 6, 2) }, 3, 12},
		"rem":                 {func() any { return on.Rem(1, 7, 2) }, 1, 14},
		"inc":                 {func() any { n = 7; on.Inc(1, &n); return n }, 8, 6},
		"dec":                 {func() any { n = 7; on.Dec(1, &n); return n }, 6, 8},
		"grow":                {func() any { n = 7; on.Grow(1, &n, 2); return n }, 9, 5},
		"shrink":              {func() any { n = 7; on.Shrink(1, &n, 2); return n }, 5, 9},
		"word":                {func() any { return on.Word(1, "a", true) }, "a", "a\x00"},
		"zero":                {func() any { return on.Zero(1, 3) }, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			t.Cleanup(func() { on.Set(0, 0) })
			on.Set(0, 0)
			g.Expect(x.do()).To(gomega.Equal(x.off))
			on.Set(3, 0)
			g.Expect(x.do()).To(gomega.Equal(x.off))
			on.Set(1, 0)
			g.Expect(x.do()).To(gomega.Equal(x.isOn))
		})
	}
}

// TestTraceListsMutantsThatMatter: a boundary matters only at its edge, and adding 0
// is the same as subtracting it.
func TestATraceNamesWhatWouldMakeADifference(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Cleanup(func() { on.Trace(false) })
	on.Trace(true)
	on.Keep(1)
	on.Less(2, 3, 1, 2)
	on.Less(4, 5, 2, 2)
	on.Add(6, 1, 0)
	on.And(7, true, func() bool { return true })
	on.And(8, true, func() bool { return false })
	on.Or(9, false, func() bool { return false })
	on.Word(10, "a", true)
	on.Word(11, "b", false)
	ids, questions := on.Traced()
	g.Expect(ids).To(gomega.Equal([]int{1, 3, 4, 5, 8, 10}))
	g.Expect(questions).To(gomega.BeNumerically(">=", 8))
}
