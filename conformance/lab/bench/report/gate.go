package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// Interval is a median with its confidence interval.
type Interval struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// confidence is the confidence of an interval, if there are enough samples.
const confidence = 0.95

// minSamples is the number of samples that an interval without assumptions needs.
const minSamples = 6

// NewInterval returns the interval that holds the median in 95 of 100 runs, whatever the
// distribution is. With fewer than six samples it is the range of all.
func NewInterval(samples []float64) Interval {
	if len(samples) == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(samples))
	if len(sorted) < minSamples {
		m := sorted[len(sorted)/2]
		if len(sorted)%2 == 0 {
			m = (m + sorted[len(sorted)/2-1]) / 2
		}
		return Interval{m, sorted[0], sorted[len(sorted)-1]}
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(sorted, &benchmath.DefaultThresholds), confidence)
	return Interval{s.Center, s.Lo, s.Hi}
}

// Ratios returns the ratios of two series, repeat by repeat, without those for which
// the control is 0.
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

// Gate is a limit of a measure, or of its ratio to a control.
type Gate struct {
	Text    string
	Measure string
	Least   bool // >=
	Limit   float64
	Control string // "" if the limit is for the figure itself
	Load    string // "" for every load that has the measure
}

var form = regexp.MustCompile(`^\s*([a-z][a-z0-9-]*)\s*(<=|>=)\s*([0-9.]+)(?:x\s+([a-z]+)|(ns|us|ms|s|B|KiB|MiB))?(?:\s*@\s*(\S+))?\s*$`)

// Targets are the gates for this project's own adapters.
var Targets = []string{
	"added-p50<=1.5x raw@stream", "added-p99<=2x raw@stream", "added-first<=1x spawn@stream", "step-rate>=4x node",
	"step-allocs<=3", "step-bytes<=600", "rate>=4x node@flood", "rate>=0.5x lines@flood", "cpu<=3us@flood",
	"added-start<=1ms@stream", "idle-memory<=150KiB", "lost<=0", "again<=0", "disordered<=0",
}

// units are the units of a limit, in those of the figures.
var units = map[string]float64{"": 1, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}

// ParseGate reads a gate: MEASURE<=NUMBERx CONTROL or MEASURE>=NUMBERx CONTROL, or
// NUMBER and a unit (ns, us, ms, s, B, KiB or MiB) if the figure itself is limited.
// Without a unit the number is in seconds or bytes. @LOAD at the end names the load.
// added-p50, -p90, -p99 and -max mean delay-p50 and so on.
func ParseGate(text string) (Gate, error) {
	m := form.FindStringSubmatch(text)
	if m == nil {
		return Gate{}, fmt.Errorf("gate %q: want MEASURE<=NUMBERx CONTROL, such as added-p99<=2x raw", text)
	}
	g := Gate{Text: strings.TrimSpace(text), Measure: m[1], Least: m[2] == ">=", Control: m[4], Load: m[6]}
	var err error
	if g.Limit, err = strconv.ParseFloat(m[3], 64); err != nil {
		return g, fmt.Errorf("gate %q: %q is no number", text, m[3])
	}
	g.Limit *= units[m[5]]
	if q, ok := strings.CutPrefix(g.Measure, "added-"); ok && q != "first" && q != "start" {
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
	if kind := bench.MeasureNamed(g.Measure).Unit; m[5] != "" && (strings.HasSuffix(m[5], "B") != (kind == bench.Bytes) || strings.HasSuffix(m[5], "s") != (kind == bench.Seconds)) {
		return g, fmt.Errorf("gate %q: %s is not measured in %s", text, m[1], m[5])
	}
	controls := []string{"", bench.Raw, bench.Lines, bench.Node, bench.SDK, bench.DOM, bench.Chat, bench.Spawn}
	if !slices.Contains(controls, g.Control) {
		return g, fmt.Errorf("gate %q: no control %q, only %s", text, g.Control, strings.Join(controls[1:], ", "))
	}
	return g, nil
}

// Verdict is the verdict of a gate on one subject at one load.
type Verdict struct {
	Gate     string   `json:"gate"`
	Runtime  string   `json:"runtime"`
	Subject  string   `json:"subject"`
	Load     string   `json:"load"`
	Figure   Interval `json:"figure"`
	Limit    float64  `json:"limit"`
	Failed   bool     `json:"failed"`
	Doubtful bool     `json:"doubtful,omitzero"` // the median is past the limit, but noise may explain it
	// Disturbed reports that a rate is past the limit, and that other programs took the
	// processors in too many repeats to tell why. Doubtful is set too.
	Disturbed bool `json:"disturbed,omitzero"`
}

// Judge applies gates to a document. A gate that applies to no figure is an error,
// because it would always pass.
func Judge(d *bench.Document, gates []Gate) ([]Verdict, error) {
	var out []Verdict
	for _, g := range gates {
		before := len(out)
		for i := range d.Series {
			s := &d.Series[i]
			if s.Control || s.Measure != g.Measure || g.Load != "" && g.Load != s.Load {
				continue
			}
			control := g.control(d, s)
			samples := g.samples(s, control)
			if len(samples) == 0 {
				continue
			}
			v := g.judge(s, NewInterval(samples))
			if (v.Failed || v.Doubtful) && s.Measure == rate {
				v = g.judgeUndisturbed(d, s, control, v)
			}
			out = append(out, v)
		}
		if len(out) == before {
			return out, fmt.Errorf("gate %q: nothing was measured that it could judge", g.Text)
		}
	}
	return out, nil
}

// control returns the series of the control to which a series is compared, or nil.
func (g Gate) control(d *bench.Document, s *bench.Series) *bench.Series {
	switch g.Control {
	case "":
		return nil
	case bench.Spawn:
		return d.Find("", bench.SpawnLoad, bench.Spawn, "start")
	}
	return d.Find(s.Runtime, s.Load, g.Control, s.Measure)
}

func (g Gate) samples(s, control *bench.Series) []float64 {
	if g.Control == "" {
		return s.Samples
	}
	return Ratios(s, control)
}

// rate is the measure that wants all processors: stand-in, session and listener work at the
// same time, and the controls have one part less. So programs that take the processors
// change its ratios too.
const rate = "rate"

// quiet is how many processors other programs may take in a repeat in which a rate is judged.
const quiet = 0.25

// judgeUndisturbed judges a rate by the repeats in which other programs took little.
func (g Gate) judgeUndisturbed(d *bench.Document, s, control *bench.Series, all Verdict) Verdict {
	if len(d.Machine.Others) == 0 {
		return all // it is not known
	}
	keep := func(s *bench.Series) *bench.Series {
		if s == nil {
			return nil
		}
		out := *s
		out.Samples = nil
		for i, v := range s.Samples {
			if i < len(d.Machine.Others) && d.Machine.Others[i] <= quiet {
				out.Samples = append(out.Samples, v)
			}
		}
		return &out
	}
	if samples := g.samples(keep(s), keep(control)); len(samples) >= minSamples {
		return g.judge(s, NewInterval(samples))
	}
	all.Failed, all.Doubtful, all.Disturbed = false, true, true
	return all
}

// minRepeats is how many repeats a failure needs. With fewer, the interval is too
// uncertain, and a machine that is slow for a minute fails a fast subject.
const minRepeats = 12

// Undecided reports whether a verdict is doubtful, or is a failure with few repeats,
// so that another repeat may decide: see bench.Config.More.
func Undecided(gates []Gate) func(*bench.Document) bool {
	return func(d *bench.Document) bool {
		all, err := Judge(d, gates)
		return err == nil && slices.ContainsFunc(all, func(v Verdict) bool { return v.Doubtful || v.Failed && d.Repeats < minRepeats })
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
