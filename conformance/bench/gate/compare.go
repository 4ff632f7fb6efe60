package gate

import (
	"cmp"
	"errors"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/turnspec/turnspec/conformance/bench"
)

// Change is how one figure differs between two documents.
type Change struct {
	Runtime string   `json:"runtime"`
	Subject string   `json:"subject"`
	Load    string   `json:"load"`
	Measure string   `json:"measure"`
	Control string   `json:"control,omitempty"` // the figures are ratios to it
	Old     Interval `json:"old"`
	New     Interval `json:"new"`
	P       float64  `json:"p"`     // how likely the difference is chance (Mann-Whitney U)
	Delta   float64  `json:"delta"` // of the medians, as a part of the old one
	Sure    bool     `json:"sure"`  // P is below 0.05
	Worse   bool     `json:"worse"` // sure, and to the worse
}

// errNothing says that there is nothing to compare.
var errNothing = errors.New("the two runs have no figure of a subject in common")

// Compare tells what changed from one document to another, as benchstat does:
// of ratios to the raw control (of a whole step: to Node) where there are any,
// since they hold from one machine to the other, else of the figures.
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
		c.Old, c.New = Of(a), Of(b)
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
