package main

import (
	"fmt"

	"github.com/turnspec/turnspec/conformance/lab/bench/curve"
	"github.com/turnspec/turnspec/conformance/report/table"
)

// newTable returns the figures, with how many times those of base they are, if base was
// measured.
func newTable(now, base figures) table.Section {
	out := table.Section{Head: []string{"", "figure", "target", ""}}
	compared := base.Build > 0
	if compared {
		out.Head = append(out.Head, "base", "times base")
	}
	for _, r := range rows {
		v, before := r.of(now), r.of(base)
		if v == 0 {
			continue // not measured
		}
		limit := r.limit
		if r.times > 0 {
			limit = r.times * before
		}
		verdict := ""
		switch {
		case limit > 0 && v <= limit:
			verdict = "reached"
		case limit > 0:
			verdict = "not reached"
		}
		cells := []string{r.name, r.format(v), r.target, verdict}
		if compared {
			cells = append(cells, r.format(before), fmt.Sprintf("%.2f", v/before))
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// row is one figure and its target.
type row struct {
	name   string
	target string  // as a reader sees it
	limit  float64 // the figure is to be at most this; 0: it has no limit
	times  float64 // or at most so many times that of the base; 0: it has no such limit
	of     func(figures) float64
	format func(float64) string
}

var rows = []row{
	{"`turnspec run`", "90 s", 90, 0, func(f figures) float64 { return f.Suite.Wall }, seconds},
	{"processor time of the suite", "0.5 times base", 0, 0.5, func(f figures) float64 { return f.Suite.CPU }, seconds},
	{"runs of the suite", "", 0, 0, func(f figures) float64 { return float64(f.Suite.N) }, count},
	{"processor time of a run", "", 0, 0, func(f figures) float64 { return perRun(f.Suite) }, milliseconds},
	{"memory of the suite", "1 GiB", 1 << 30, 0, func(f figures) float64 { return f.Suite.Memory }, mebibytes},
	{"`run --exhaustive`", "600 s", 600, 0, func(f figures) float64 { return f.Whole.Wall }, seconds},
	{"runs of `run --exhaustive`", "", 0, 0, func(f figures) float64 { return float64(f.Whole.N) }, count},
	{"`go test ./...`", "180 s", 180, 0, func(f figures) float64 { return f.Tests.Seconds() }, seconds},
	{"processor time of `go test ./...`", "300 s", 300, 0, func(f figures) float64 { return f.TestsCPU.Seconds() }, seconds},
	{"released program", "45 MB", 45e6, 0, func(f figures) float64 { return float64(f.Size) }, megabytes},
	{"`turnspec version`", "30 ms", 30e-3, 0, func(f figures) float64 { return f.Start.Seconds() }, milliseconds},
	{"`true`", "", 0, 0, func(f figures) float64 { return f.Spawn.Seconds() }, milliseconds},
	{"processor time of a build without a cache", "0.5 times base", 0, 0.5, func(f figures) float64 { return f.Build.Seconds() }, seconds},
}

func perRun(p curve.Point) float64 {
	if p.N == 0 {
		return 0
	}
	return p.CPU / float64(p.N)
}

func count(v float64) string        { return fmt.Sprintf("%.0f", v) }
func seconds(v float64) string      { return fmt.Sprintf("%.1f s", v) }
func milliseconds(v float64) string { return fmt.Sprintf("%.2f ms", v*1e3) }
func mebibytes(v float64) string    { return fmt.Sprintf("%.0f MiB", v/(1<<20)) }
func megabytes(v float64) string    { return fmt.Sprintf("%.1f MB", v/1e6) }
