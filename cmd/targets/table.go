package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// writeTable writes the figures as a Markdown table, with how many times those of base
// they are, if base was measured.
func writeTable(out io.Writer, now, base figures) error {
	var b strings.Builder
	compared := base.Build > 0
	head, line := "| | figure | target | |\n", "|---|---|---|---|\n"
	if compared {
		head, line = "| | figure | target | | base | times base |\n", "|---|---|---|---|---|---|\n"
	}
	b.WriteString(head + line)
	for _, r := range rows {
		v := r.of(now)
		if v == 0 {
			continue // not measured
		}
		target, verdict := r.target, ""
		switch {
		case r.limit > 0 && (v <= r.limit) != r.least:
			verdict = "reached"
		case r.limit > 0:
			verdict = "not reached"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |", r.name, r.format(v), target, verdict)
		if compared {
			before := r.of(base)
			fmt.Fprintf(&b, " %s | %.2f |", r.format(before), v/before)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// row is one figure and its target.
type row struct {
	name   string
	target string // as a reader sees it
	limit  float64
	least  bool // the figure is to be at least the limit, not at most
	of     func(figures) float64
	format func(float64) string
}

var rows = []row{
	{"runs of the suite a minute", "at least 200,000", 200_000, true, func(f figures) float64 { return perMinute(f.Suite) }, count},
	{"processor time of the suite", "", 0, false, func(f figures) float64 { return f.Suite.CPU.Seconds() }, seconds},
	{"processor time of a run", "0.6 times base", 0, false, func(f figures) float64 { return perRun(f.Suite) }, milliseconds},
	{"memory of the suite", "1 GiB", 1 << 30, false, func(f figures) float64 { return float64(f.Suite.Resident) }, mebibytes},
	{"`run --exhaustive`", "240 s", 240, false, func(f figures) float64 { return f.Whole.Took.Seconds() }, seconds},
	{"runs of `run --exhaustive` a minute", "at least 200,000", 200_000, true, func(f figures) float64 { return perMinute(f.Whole) }, count},
	{"`go test ./...`", "150 s", 150, false, func(f figures) float64 { return f.Tests.Seconds() }, seconds},
	{"processor time of `go test ./...`", "", 0, false, func(f figures) float64 { return f.TestsC.Seconds() }, seconds},
	{"released program", "45 MB", 45e6, false, func(f figures) float64 { return float64(f.Size) }, megabytes},
	{"`turnspec version`", "30 ms", 30e-3, false, func(f figures) float64 { return f.Start.Seconds() }, milliseconds},
	{"`true`", "", 0, false, func(f figures) float64 { return f.Spawn.Seconds() }, milliseconds},
	{"processor time of a build without a cache", "0.5 times base", 0, false, func(f figures) float64 { return f.Build.Seconds() }, seconds},
}

func perMinute(s suite) float64 {
	if s.Took == 0 {
		return 0
	}
	return float64(s.Runs) / (float64(s.Took) / float64(time.Minute))
}

func perRun(s suite) float64 {
	if s.Runs == 0 {
		return 0
	}
	return s.CPU.Seconds() / float64(s.Runs)
}

func count(v float64) string        { return fmt.Sprintf("%.0f", v) }
func seconds(v float64) string      { return fmt.Sprintf("%.1f s", v) }
func milliseconds(v float64) string { return fmt.Sprintf("%.2f ms", v*1e3) }
func mebibytes(v float64) string    { return fmt.Sprintf("%.0f MiB", v/(1<<20)) }
func megabytes(v float64) string    { return fmt.Sprintf("%.1f MB", v/1e6) }
