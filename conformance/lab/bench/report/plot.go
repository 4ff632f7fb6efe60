package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// Plots are drawn here and not by a library, because good ones parse fonts when a
// program starts: each stand-in would do it, and it would be measured.

// The size of a plot and its margins, in pixels.
const (
	plotWidth, plotHeight = 640, 300
	marginLeft            = 64
	marginRight           = 150
	marginTop             = 12
	marginBottom          = 34
)

// plot is a plot with its lines.
type plot struct {
	Title  string     `json:"title"`
	X      string     `json:"x"`
	Width  int        `json:"width"`
	Height int        `json:"height"`
	Lines  []plotLine `json:"lines"`
	XTicks []tick     `json:"x_ticks"`
	YTicks []tick     `json:"y_ticks"`
	Left   float64    `json:"left"`
	Right  float64    `json:"right"`
	Top    float64    `json:"top"`
	Bottom float64    `json:"bottom"`
}

type plotLine struct {
	Name   string  `json:"name"`
	Color  string  `json:"color"`
	Path   string  `json:"path"` // as the attribute d has it
	LabelY float64 `json:"label_y"`
}

type tick struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// colors can be distinguished by most people (Okabe and Ito).
var colors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"}

// axis maps values to positions.
type axis struct {
	log      bool
	low, top float64
	from, to float64
}

func (a axis) at(v float64) float64 {
	low, top := a.low, a.top
	if a.log {
		low, top, v = math.Log10(low), math.Log10(top), math.Log10(max(v, a.low))
	}
	if top == low {
		return a.from
	}
	return a.from + (v-low)/(top-low)*(a.to-a.from)
}

// newAxis returns an axis for values. A logarithmic one begins above 0.
func newAxis(values []float64, log bool, from, to float64) axis {
	a := axis{log: log, from: from, to: to, low: math.Inf(1), top: math.Inf(-1)}
	for _, v := range values {
		if log && v <= 0 {
			continue
		}
		a.low, a.top = min(a.low, v), max(a.top, v)
	}
	switch {
	case math.IsInf(a.low, 1):
		a.low, a.top = 1, 10
	case log:
		a.low, a.top = math.Pow(10, math.Floor(math.Log10(a.low))), math.Pow(10, math.Ceil(math.Log10(a.top)))
	default:
		a.low = min(0, a.low)
	}
	if a.low == a.top {
		a.top = a.low + 1
		if log {
			a.top = a.low * 10
		}
	}
	return a
}

// ticks returns round values of an axis.
func (a axis) ticks(text func(float64) string) []tick {
	var out []tick
	if a.log {
		for v := a.low; v <= a.top*1.001; v *= 10 {
			out = append(out, tick{a.at(v), text(v)})
		}
		return out
	}
	step := math.Pow(10, math.Floor(math.Log10(a.top-a.low)))
	for (a.top-a.low)/step < 4 {
		step /= 2
	}
	for v := math.Ceil(a.low/step) * step; v <= a.top*1.001; v += step {
		out = append(out, tick{a.at(v), text(v)})
	}
	return out
}

// namedLine is a named line of values.
type namedLine struct {
	name   string
	points [][2]float64
}

// newPlot draws a plot. x and y format the values of an axis.
func newPlot(title, xName string, lines []namedLine, xLog, yLog bool, x, y func(float64) string) plot {
	p := plot{
		Title: title, X: xName, Width: plotWidth, Height: plotHeight,
		Left: marginLeft, Right: plotWidth - marginRight, Top: marginTop, Bottom: plotHeight - marginBottom,
	}
	var xs, ys []float64
	for _, l := range lines {
		for _, v := range l.points {
			xs, ys = append(xs, v[0]), append(ys, v[1])
		}
	}
	ax, ay := newAxis(xs, xLog, p.Left, p.Right), newAxis(ys, yLog, p.Bottom, p.Top)
	p.XTicks, p.YTicks = ax.ticks(x), ay.ticks(y)
	for i, l := range lines {
		path, last := "", 0.0
		for k, v := range l.points {
			verb := "L"
			if k == 0 {
				verb = "M"
			}
			last = ay.at(v[1])
			path += fmt.Sprintf("%s%.1f %.1f", verb, ax.at(v[0]), last)
		}
		p.Lines = append(p.Lines, plotLine{
			Name: l.name, Color: colors[i%len(colors)], Path: path, LabelY: last,
		})
	}
	separateLabels(p.Lines)
	return p
}

// separateLabels moves labels that overlap.
func separateLabels(lines []plotLine) {
	order := make([]*plotLine, len(lines))
	for i := range lines {
		order[i] = &lines[i]
	}
	slices.SortFunc(order, func(a, b *plotLine) int { return cmp.Compare(a.LabelY, b.LabelY) })
	for i := 1; i < len(order); i++ {
		order[i].LabelY = max(order[i].LabelY, order[i-1].LabelY+13)
	}
}

// plots returns the plots of a report.
func (r Report) plots() []plot {
	var out []plot
	seconds := func(v float64) string { return Figure(v, bench.Seconds) }
	plain := formatNumber
	type key struct {
		runtime, load string
		kind          bench.CurveKind
	}
	var keys []key
	lines := map[key][]namedLine{}
	for _, c := range r.Curves {
		k := key{c.Runtime, c.Load, c.Kind}
		if lines[k] == nil {
			keys = append(keys, k)
		}
		points := c.Points
		if c.Kind == bench.CurveDelay {
			points = stretchTail(points)
		}
		lines[k] = append(lines[k], namedLine{c.Contender, points})
	}
	for _, k := range keys {
		if k.kind == bench.CurveDelay {
			out = append(out, newPlot(k.runtime+", load "+k.load+": delay from when a delta was due", "one of so many deltas is later", lines[k], true, true, plain, seconds))
		} else {
			out = append(out, newPlot(k.runtime+", load "+k.load+": deltas that were due and had not come", "seconds", lines[k], false, false, plain, plain))
		}
	}
	return append(out, r.scaling()...)
}

// stretchTail maps percentiles to an axis on which 50, 90, 99 and 99.9 are at equal
// distances.
func stretchTail(points [][2]float64) [][2]float64 {
	var out [][2]float64
	for _, p := range points {
		if p[0] < 100 {
			out = append(out, [2]float64{100 / (100 - p[0]), p[1]})
		}
	}
	return out
}

// scaling plots delays over the number of sessions.
func (r Report) scaling() []plot {
	sessions := map[string]int{}
	for _, l := range r.Loads {
		if l.Rate > 0 && l.Slow == 0 {
			sessions[l.Name] = l.Sessions
		}
	}
	var out []plot
	for _, measure := range []string{"delay-p50", "delay-p99"} {
		byRuntime := map[string]map[string][][2]float64{}
		var runtimes []string
		for _, s := range r.sorted() {
			n, many := sessions[s.Load]
			if s.Measure != measure || !many {
				continue
			}
			if byRuntime[s.Runtime] == nil {
				byRuntime[s.Runtime] = map[string][][2]float64{}
				runtimes = append(runtimes, s.Runtime)
			}
			of := byRuntime[s.Runtime]
			of[s.Contender] = append(of[s.Contender], [2]float64{float64(n), NewInterval(s.Samples).Median})
		}
		for _, rt := range runtimes {
			var lines []namedLine
			for name, points := range byRuntime[rt] {
				slices.SortFunc(points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
				if len(points) > 1 {
					lines = append(lines, namedLine{name, points})
				}
			}
			if len(lines) == 0 {
				continue
			}
			slices.SortFunc(lines, func(a, b namedLine) int { return cmp.Compare(a.name, b.name) })
			out = append(out, newPlot(rt+": "+measure+" by sessions at the same time", "sessions", lines, true, true,
				formatNumber, func(v float64) string { return Figure(v, bench.Seconds) }))
		}
	}
	return out
}
