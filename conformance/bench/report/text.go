// Package report answers one question: how is the outcome of a benchmark shown?
//
// Ratios to the controls come first: they hold from machine to machine. Absolute
// figures stand apart, marked as this machine's.
package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/turnspec/turnspec/conformance/bench"
	"github.com/turnspec/turnspec/conformance/bench/gate"
)

// Report is a document with what its gates say.
type Report struct {
	*bench.Document
	Verdicts []gate.Verdict `json:"verdicts"`
}

// Failed reports whether a gate failed.
func (r Report) Failed() bool {
	return slices.ContainsFunc(r.Verdicts, func(v gate.Verdict) bool { return v.Failed })
}

// quiet are measures that a table shows only where they are not 0.
var quiet = []string{"lost", "again", "disordered"}

// more are measures that only a whole table shows.
var more = []string{"delay-p90", "wire-p50", "wire-p99", "alloc-bytes", "step-bytes"}

// shown reports whether a table that is not whole shows a series.
func shown(s *bench.Series) bool {
	if slices.Contains(quiet, s.Measure) {
		return slices.Max(s.Samples) > 0
	}
	return !slices.Contains(more, s.Measure) && (s.Measure != "per-event" || slices.Max(s.Samples) > 1)
}

// Text writes tables; a whole one leaves out nothing.
func Text(w io.Writer, r Report, whole bool) error {
	m := r.Machine
	fmt.Fprintf(w, "%d repeats, interleaved; medians, and in brackets where they lie\n", r.Repeats)
	for _, g := range r.ratios() {
		fmt.Fprintf(w, "\n%s, load %s: times the control\n", g.runtime, g.load)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "  subject\tmeasure")
		for _, c := range g.controls {
			fmt.Fprintf(t, "\tx %s", c)
		}
		fmt.Fprintln(t)
		for _, row := range g.rows {
			fmt.Fprintf(t, "  %s\t%s", row.subject, row.measure)
			for _, c := range g.controls {
				fmt.Fprintf(t, "\t%s", ratio(row.of[c]))
			}
			fmt.Fprintln(t)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\nAbsolute figures, of this machine alone (%s/%s, %d processors, %s; load average %.1f before, %.1f after)\n",
		m.OS, m.Arch, m.Processors, m.Go, m.LoadBefore, m.LoadAfter)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  runtime\tload\twho\tmeasure\tmedian\tfrom\tto")
	for _, s := range r.sorted() {
		if !whole && !shown(&s) {
			continue
		}
		i := gate.Of(s.Samples)
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Runtime, s.Load, s.Contender, s.Measure,
			Figure(i.Median, s.Unit), Figure(i.Low, s.Unit), Figure(i.High, s.Unit))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "\nnote: %s\n", n)
	}
	return Gates(w, r.Verdicts)
}

// Gates writes the verdicts.
func Gates(w io.Writer, all []gate.Verdict) error {
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nGates")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range all {
		word, why := "pass", ""
		switch {
		case v.Failed:
			word = "FAIL"
		case v.Doubtful:
			why = "past the limit, but within the noise"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", word, v.Gate, v.Runtime, v.Subject, v.Load, interval(v.Figure), why)
	}
	return t.Flush()
}

// Changes writes what changed between two documents.
func Changes(w io.Writer, all []gate.Change) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "runtime\tsubject\tload\tmeasure\told\tnew\tdelta\tp\t")
	for _, c := range all {
		name, show := c.Measure, func(v float64) string { return Figure(v, bench.MeasureNamed(c.Measure).Unit) }
		if c.Control != "" {
			name, show = c.Measure+" x "+c.Control, func(v float64) string { return fmt.Sprintf("%.2fx", v) }
		}
		delta, word := "~", ""
		if c.Sure {
			delta = fmt.Sprintf("%+.1f%%", 100*c.Delta)
		}
		if c.Worse {
			word = "WORSE"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.3f\t%s\n", c.Runtime, c.Subject, c.Load, name, show(c.Old.Median), show(c.New.Median), delta, c.P, word)
	}
	return t.Flush()
}

// group are the ratios of a runtime at a load.
type group struct {
	runtime, load string
	controls      []string
	rows          []row
}

type row struct {
	subject, measure string
	of               map[string]gate.Interval
}

func (r Report) ratios() []group {
	var out []group
	for _, s := range r.sorted() {
		if s.Control {
			continue
		}
		line := row{s.Contender, s.Measure, map[string]gate.Interval{}}
		for _, c := range []string{bench.Raw, bench.Lines, bench.Node, bench.SDK} {
			if all := gate.Ratios(&s, r.Find(s.Runtime, s.Load, c, s.Measure)); len(all) > 0 {
				line.of[c] = gate.Of(all)
			}
		}
		if len(line.of) == 0 {
			continue
		}
		if len(out) == 0 || out[len(out)-1].runtime != s.Runtime || out[len(out)-1].load != s.Load {
			out = append(out, group{runtime: s.Runtime, load: s.Load})
		}
		g := &out[len(out)-1]
		for _, c := range []string{bench.Raw, bench.Lines, bench.Node, bench.SDK} {
			if _, ok := line.of[c]; ok && !slices.Contains(g.controls, c) {
				g.controls = append(g.controls, c)
			}
		}
		g.rows = append(g.rows, line)
	}
	return out
}

// sorted are the series by runtime, load, measure and contender, as the measures
// are listed.
func (r Report) sorted() []bench.Series {
	place := map[string]int{}
	for i, m := range bench.Measures() {
		place[m.Name] = i
	}
	loads := map[string]int{}
	for i, s := range r.Series {
		if _, ok := loads[s.Load]; !ok {
			loads[s.Load] = i
		}
	}
	out := slices.Clone(r.Series)
	slices.SortStableFunc(out, func(a, b bench.Series) int {
		if c := strings.Compare(a.Runtime, b.Runtime); c != 0 {
			return c
		}
		if c := loads[a.Load] - loads[b.Load]; c != 0 {
			return c
		}
		if c := place[a.Measure] - place[b.Measure]; c != 0 {
			return c
		}
		return strings.Compare(a.Contender, b.Contender)
	})
	return out
}

func ratio(i gate.Interval) string {
	if i == (gate.Interval{}) {
		return "-"
	}
	return interval(i)
}

func interval(i gate.Interval) string {
	return fmt.Sprintf("%s [%s-%s]", short(i.Median), short(i.Low), short(i.High))
}

func short(v float64) string {
	switch a := math.Abs(v); {
	case a != 0 && a < 0.001:
		return fmt.Sprintf("%.1e", v)
	case a < 10:
		return fmt.Sprintf("%.2f", v)
	case a < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Figure is a figure with its unit, as people read it.
func Figure(v float64, u bench.Unit) string {
	a := math.Abs(v)
	switch u {
	case bench.Seconds:
		switch {
		case a == 0:
			return "0"
		case a < 1e-6:
			return fmt.Sprintf("%.0fns", v*1e9)
		case a < 1e-3:
			return fmt.Sprintf("%.1fµs", v*1e6)
		case a < 1:
			return fmt.Sprintf("%.2fms", v*1e3)
		}
		return fmt.Sprintf("%.2fs", v)
	case bench.Bytes:
		switch {
		case a < 1<<10:
			return fmt.Sprintf("%.0fB", v)
		case a < 1<<20:
			return fmt.Sprintf("%.1fKiB", v/(1<<10))
		}
		return fmt.Sprintf("%.1fMiB", v/(1<<20))
	case bench.Each:
		return fmt.Sprintf("%.0f/s", v)
	}
	return short(v)
}
