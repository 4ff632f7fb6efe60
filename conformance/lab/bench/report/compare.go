package report

import (
	"cmp"
	"errors"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// Change is the difference of one figure between two documents.
type Change struct {
	Runtime string   `json:"runtime"`
	Subject string   `json:"subject"`
	Load    string   `json:"load"`
	Measure string   `json:"measure"`
	Control string   `json:"control,omitempty"` // the figures are ratios to this control
	Old     Interval `json:"old"`
	New     Interval `json:"new"`
	P       float64  `json:"p"`     // probability that the difference is chance (Mann-Whitney U)
	Delta   float64  `json:"delta"` // of the medians, relative to the old one
	Sure    bool     `json:"sure"`  // P is below 0.05
	Worse   bool     `json:"worse"` // Sure, and for the worse
}

// errNothing reports that there is nothing to compare.
var errNothing = errors.New("the two runs have no figure of a subject in common")

// Compare compares two documents as benchstat does. It compares ratios to the raw
// control (for a whole step, to Node) if there are any, because they hold on every
// machine, and else the figures.
func Compare(old, now *bench.Document) ([]Change, error) {
	var out []Change
	for i := range now.Series {
		s := &now.Series[i]
		was := old.Find(s.Runtime, s.Load, s.Contender, s.Measure)
		if s.Control || was == nil {
			continue
		}
		c := Change{Runtime: s.Runtime, Subject: s.Contender, Load: s.Load, Measure: s.Measure}
		a, b := was.Samples, s.Samples
		control := bench.Raw
		if s.Load == bench.StepLoad {
			control = bench.Node
		}
		ra := Ratios(was, old.Find(s.Runtime, s.Load, control, s.Measure))
		rb := Ratios(s, now.Find(s.Runtime, s.Load, control, s.Measure))
		if len(ra) > 0 && len(rb) > 0 {
			a, b, c.Control = ra, rb, control
		}
		c.Old, c.New = NewInterval(a), NewInterval(b)
		t := &benchmath.DefaultThresholds
		test := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(a), t), benchmath.NewSample(slices.Clone(b), t))
		c.P = test.P
		c.Sure = c.P < t.CompareAlpha && c.Old.Median != c.New.Median
		if c.Old.Median != 0 {
			c.Delta = c.New.Median/c.Old.Median - 1
		}
		c.Worse = c.Sure && (c.New.Median < c.Old.Median) == s.More
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errNothing
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Runtime, b.Runtime), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Load, b.Load))
	})
	return out, nil
}
