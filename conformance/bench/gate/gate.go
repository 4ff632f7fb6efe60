// Package gate answers one question: is a figure of a benchmark good enough, on
// a machine that is never quiet?
//
// A figure is the ratio of a subject to a control, repeat by repeat, with the
// interval in which its median lies. A gate fails only where the whole interval
// is on the wrong side of the limit: what noise alone can explain fails nothing,
// so that a gate does not flicker.
package gate

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/turnspec/turnspec/conformance/bench"
)

// Interval is a median and where it lies.
type Interval struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// confidence is that of an interval, where there are samples enough.
const confidence = 0.95

// enough is how many samples an interval without assumptions needs.
const enough = 6

// Of makes the interval of samples: the one that holds the median in 95 of 100
// runs, whatever their distribution is; with fewer than six samples, all of them.
func Of(samples []float64) Interval {
	if len(samples) == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(samples))
	if len(sorted) < enough {
		m := sorted[len(sorted)/2]
		if len(sorted)%2 == 0 {
			m = (m + sorted[len(sorted)/2-1]) / 2
		}
		return Interval{m, sorted[0], sorted[len(sorted)-1]}
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(sorted, &benchmath.DefaultThresholds), confidence)
	return Interval{s.Center, s.Lo, s.Hi}
}

// Ratios are those of two series, repeat by repeat. Where the control shows 0
// there is none.
func Ratios(subject, control *bench.Series) []float64 {
	if subject == nil || control == nil {
		return nil
	}
	var out []float64
	for i := range min(len(subject.Samples), len(control.Samples)) {
		if control.Samples[i] != 0 {
			out = append(out, subject.Samples[i]/control.Samples[i])
		}
	}
	return out
}

// Gate is a limit of a measure: of its ratio to a control, or of itself.
type Gate struct {
	Text    string
	Measure string
	Least   bool // >=
	Limit   float64
	Control string // "": the limit is the figure's own
	Load    string // "": each that has the measure
}

var form = regexp.MustCompile(`^\s*([a-z][a-z0-9-]*)\s*(<=|>=)\s*([0-9.]+)(x\s+([a-z]+))?(?:\s*@\s*(\S+))?\s*$`)

// Targets are the gates that this project holds its own adapters to.
var Targets = []string{
	"added-p50<=1.5x raw@stream", "added-p99<=2x raw@stream", "added-first<=1x spawn@stream", "step-rate>=4x node",
	"step-allocs<=3", "step-bytes<=600", "lost<=0", "again<=0", "disordered<=0",
}

// Parse reads a gate: MEASURE<=NUMBERx CONTROL, MEASURE>=NUMBERx CONTROL, or
// without x and control where the figure itself is held to a number (seconds,
// bytes). @LOAD at its end names the load. added-p50, -p90, -p99 and -max are
// delay-p50 and so on.
func Parse(text string) (Gate, error) {
	m := form.FindStringSubmatch(text)
	if m == nil {
		return Gate{}, fmt.Errorf("gate %q: want MEASURE<=NUMBERx CONTROL, such as added-p99<=2x raw", text)
	}
	g := Gate{Text: strings.TrimSpace(text), Measure: m[1], Least: m[2] == ">=", Control: m[5], Load: m[6]}
	var err error
	if g.Limit, err = strconv.ParseFloat(m[3], 64); err != nil {
		return g, fmt.Errorf("gate %q: %q is no number", text, m[3])
	}
	if q, ok := strings.CutPrefix(g.Measure, "added-"); ok && q != "first" {
		g.Measure = "delay-" + q
	}
	if !slices.ContainsFunc(bench.Measures(), func(m bench.Measure) bool { return m.Name == g.Measure }) {
		var names []string
		for _, m := range bench.Measures() {
			if !strings.Contains(m.Name, " ") {
				names = append(names, m.Name)
			}
		}
		return g, fmt.Errorf("gate %q: no measure %q, only %s", text, m[1], strings.Join(names, ", "))
	}
	controls := []string{"", bench.Raw, bench.Lines, bench.Node, bench.SDK, bench.Spawn}
	if !slices.Contains(controls, g.Control) {
		return g, fmt.Errorf("gate %q: no control %q, only %s", text, g.Control, strings.Join(controls[1:], ", "))
	}
	return g, nil
}

// Verdict is what came of a gate for one subject at one load.
type Verdict struct {
	Gate     string   `json:"gate"`
	Runtime  string   `json:"runtime"`
	Subject  string   `json:"subject"`
	Load     string   `json:"load"`
	Figure   Interval `json:"figure"`
	Limit    float64  `json:"limit"`
	Failed   bool     `json:"failed"`
	Doubtful bool     `json:"doubtful,omitzero"` // the median is past the limit, and noise may explain it
}

// Judge holds a document to gates. A gate that finds nothing to judge is an
// error: it would pass for ever.
func Judge(d *bench.Document, gates []Gate) ([]Verdict, error) {
	var out []Verdict
	for _, g := range gates {
		before := len(out)
		for i := range d.Series {
			s := &d.Series[i]
			if s.Control || s.Measure != g.Measure || g.Load != "" && g.Load != s.Load {
				continue
			}
			samples := s.Samples
			switch g.Control {
			case "":
			case bench.Spawn:
				samples = Ratios(s, d.Find("", bench.SpawnLoad, bench.Spawn, "start"))
			default:
				samples = Ratios(s, d.Find(s.Runtime, s.Load, g.Control, s.Measure))
			}
			if len(samples) == 0 {
				continue
			}
			out = append(out, g.judge(s, Of(samples)))
		}
		if len(out) == before {
			return out, fmt.Errorf("gate %q: nothing was measured that it could judge", g.Text)
		}
	}
	return out, nil
}

// certain is how many repeats a failure needs before it is believed: with fewer,
// the interval is hardly one, and a machine that is slow for a minute fails what
// is fast.
const certain = 12

// Undecided reports whether a verdict is doubtful, or a failure that rests on few
// repeats, so that another repeat may tell: see bench.Config.More.
func Undecided(gates []Gate) func(*bench.Document) bool {
	return func(d *bench.Document) bool {
		all, err := Judge(d, gates)
		return err == nil && slices.ContainsFunc(all, func(v Verdict) bool { return v.Doubtful || v.Failed && d.Repeats < certain })
	}
}

func (g Gate) judge(s *bench.Series, f Interval) Verdict {
	v := Verdict{Gate: g.Text, Runtime: s.Runtime, Subject: s.Contender, Load: s.Load, Figure: f, Limit: g.Limit}
	if g.Least {
		v.Failed, v.Doubtful = f.High < g.Limit, f.Median < g.Limit
	} else {
		v.Failed, v.Doubtful = f.Low > g.Limit, f.Median > g.Limit
	}
	v.Doubtful = v.Doubtful && !v.Failed
	return v
}
