// Package report judges the figures of a benchmark and writes its result. It is not part of
// the stable interface.
//
// Ratios to the controls come first, because they hold on every machine. Absolute
// figures are separate and marked as this machine's.
//
// A gate limits a figure: the ratio of a subject to a control, repeat by repeat, with the
// interval of its median. It fails only if the whole interval is on the wrong side of the
// limit, so noise alone never fails it.
package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/lab/bench"
	"github.com/turnspec/turnspec/conformance/report/table"
)

// Report is a document with the verdicts of its gates.
type Report struct {
	*bench.Document
	Verdicts []Verdict `json:"verdicts"`
}

// Failed reports whether a gate failed.
func (r Report) Failed() bool {
	return slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Failed })
}

// shownIfNotZero are measures that are shown only if they are not 0.
var shownIfNotZero = []string{"lost", "again", "disordered"}

// shownIfWhole are measures that only Text with whole shows.
var shownIfWhole = []string{"delay-p90", "wire-p50", "wire-p99", "alloc-bytes", "step-bytes"}

// shown reports whether a series is shown without whole.
func shown(s *bench.Series) bool {
	if slices.Contains(shownIfNotZero, s.Measure) {
		return slices.Max(s.Samples) > 0
	}
	return !slices.Contains(shownIfWhole, s.Measure) && (s.Measure != "per-event" || slices.Max(s.Samples) > 1)
}

// Text writes tables. With whole it shows every series.
func Text(w io.Writer, r Report, whole bool) error {
	m := r.Machine
	out := table.New(w)
	out.Printf("%d repeats, interleaved; medians, with their intervals in brackets\n", r.Repeats)
	for _, g := range r.ratios() {
		head := []string{"subject", "measure"}
		for _, c := range g.controls {
			head = append(head, "x "+c)
		}
		rows := [][]string{head}
		for _, row := range g.rows {
			cells := []string{row.subject, row.measure}
			for _, c := range g.controls {
				cells = append(cells, formatRatio(row.of[c]))
			}
			rows = append(rows, cells)
		}
		out.Printf("\n%s, load %s: times the control\n", g.runtime, g.load)
		out.Columns("  ", rows)
	}
	out.Printf("\nAbsolute figures, of this machine only (%s/%s, %d processors, %s; %s)\n",
		m.OS, m.Arch, m.Processors, m.Go, work(m))
	rows := [][]string{{"runtime", "load", "contender", "measure", "median", "from", "to"}}
	for _, s := range r.sorted() {
		if whole || shown(&s) {
			rows = append(rows, absoluteCells(s, s.Contender))
		}
	}
	out.Columns("  ", rows)
	for _, n := range r.Notes {
		out.Printf("\nnote: %s\n", n)
	}
	writeGates(out, r.Verdicts)
	return out.Err()
}

func absoluteCells(s bench.Series, contender string) []string {
	i := NewInterval(s.Samples)
	return []string{s.Runtime, s.Load, contender, s.Measure, Figure(i.Median, s.Unit), Figure(i.Low, s.Unit), Figure(i.High, s.Unit)}
}

// Gates writes the verdicts of gates.
func Gates(w io.Writer, all []Verdict) error {
	out := table.New(w)
	writeGates(out, all)
	return out.Err()
}

func writeGates(out *table.Writer, all []Verdict) {
	if len(all) == 0 {
		return
	}
	var rows [][]string
	for _, v := range all {
		word, why := "pass", ""
		switch {
		case v.Failed:
			word = "FAIL"
		case v.Disturbed:
			why = "past the limit, while other programs took the processors"
		case v.Doubtful:
			why = "past the limit, but within the noise"
		}
		rows = append(rows, []string{word, v.Gate, v.Runtime, v.Subject, v.Load, formatVerdict(v), why})
	}
	out.Printf("\nGates\n")
	out.Columns("  ", rows)
}

// Changes writes the differences of two documents.
func Changes(w io.Writer, all []Change) error {
	rows := [][]string{{"runtime", "subject", "load", "measure", "old", "new", "delta", "p", ""}}
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
		rows = append(rows, []string{c.Runtime, c.Subject, c.Load, name, show(c.Old.Median), show(c.New.Median), delta, fmt.Sprintf("%.3f", c.P), word})
	}
	out := table.New(w)
	out.Columns("", rows)
	return out.Err()
}

// group holds the ratios of a runtime at a load.
type group struct {
	runtime, load string
	controls      []string
	rows          []row
}

type row struct {
	subject, measure string
	of               map[string]Interval
}

// compared are the controls to which ratios are shown.
var compared = []string{bench.Raw, bench.Lines, bench.Node, bench.SDK, bench.DOM, bench.Chat}

func (r Report) ratios() []group {
	var out []group
	for _, s := range r.sorted() {
		if s.Control {
			continue
		}
		line := row{s.Contender, s.Measure, map[string]Interval{}}
		for _, c := range compared {
			if all := Ratios(&s, r.Find(s.Runtime, s.Load, c, s.Measure)); len(all) > 0 {
				line.of[c] = NewInterval(all)
			}
		}
		if len(line.of) == 0 {
			continue
		}
		if len(out) == 0 || out[len(out)-1].runtime != s.Runtime || out[len(out)-1].load != s.Load {
			out = append(out, group{runtime: s.Runtime, load: s.Load})
		}
		g := &out[len(out)-1]
		for _, c := range compared {
			if _, ok := line.of[c]; ok && !slices.Contains(g.controls, c) {
				g.controls = append(g.controls, c)
			}
		}
		g.rows = append(g.rows, line)
	}
	return out
}

// sorted returns the series by runtime, load, measure (as listed) and contender.
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

// formatVerdict formats the figure that a gate judged, with its unit if it is no ratio.
func formatVerdict(v Verdict) string {
	g, err := ParseGate(v.Gate)
	if err != nil || g.Control != "" {
		return formatInterval(v.Figure)
	}
	u := bench.MeasureNamed(g.Measure).Unit
	return fmt.Sprintf("%s [%s-%s]", Figure(v.Figure.Median, u), Figure(v.Figure.Low, u), Figure(v.Figure.High, u))
}

func formatRatio(i Interval) string {
	if i == (Interval{}) {
		return "-"
	}
	return formatInterval(i)
}

func formatInterval(i Interval) string {
	return fmt.Sprintf("%s [%s-%s]", formatNumber(i.Median), formatNumber(i.Low), formatNumber(i.High))
}

func formatNumber(v float64) string {
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

// Figure formats a figure with its unit.
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
	return formatNumber(v)
}

// work describes what else the machine did.
func work(m bench.Machine) string {
	text := fmt.Sprintf("load average %.1f before, %.1f after", m.LoadBefore, m.LoadAfter)
	if len(m.Others) == 0 {
		return text
	}
	return text + fmt.Sprintf("; other programs took %.2f processors, in one repeat %.2f", NewInterval(m.Others).Median, slices.Max(m.Others))
}
