package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance/bench"
	"github.com/turnspec/turnspec/conformance/bench/gate"
)

// Markdown writes a report for a page of docs: what was run, the gates, the ratios
// to the controls, and the absolute figures folded away.
func Markdown(w io.Writer, r Report) error {
	m := &markdown{w: w}
	m.line("%s", r.loads())
	mc := r.Machine
	m.line("")
	m.line("%s, %d repeats, %s/%s, %d processors, %s; load average %.1f before, %.1f after.",
		r.Started.UTC().Format("2006-01-02"), r.Repeats, mc.OS, mc.Arch, mc.Processors, mc.Go, mc.LoadBefore, mc.LoadAfter)
	for _, n := range r.Notes {
		m.line("")
		m.line("Note: %s.", strings.TrimSuffix(n, "."))
	}
	if len(r.Verdicts) > 0 {
		m.table("gate", "subject", "load", "figure", "")
		for _, v := range r.Verdicts {
			word := "reached"
			switch {
			case v.Failed:
				word = "**not reached**"
			case v.Doubtful:
				word = "past the limit, within the noise"
			}
			m.row("`"+v.Gate+"`", plain.Replace(v.Subject), v.Load, interval(v.Figure), word)
		}
	}
	for _, g := range r.ratios() {
		m.line("")
		m.line("**%s, load %s**, times the control:", g.runtime, g.load)
		m.table(append([]string{"subject", "measure"}, g.controls...)...)
		for _, row := range g.rows {
			cells := []string{plain.Replace(row.subject), row.measure}
			for _, c := range g.controls {
				cells = append(cells, ratio(row.of[c]))
			}
			m.row(cells...)
		}
	}
	m.line("")
	m.line("<details><summary>Absolute figures, of this machine alone</summary>")
	m.table("runtime", "load", "who", "measure", "median", "from", "to")
	for _, s := range r.sorted() {
		if i := gate.Of(s.Samples); shown(&s) {
			m.row(s.Runtime, s.Load, plain.Replace(s.Contender), s.Measure, Figure(i.Median, s.Unit), Figure(i.Low, s.Unit), Figure(i.High, s.Unit))
		}
	}
	m.line("")
	m.line("</details>")
	return m.err
}

// loads says what was run.
func (r Report) loads() string {
	var out []string
	for _, l := range r.Loads {
		text := fmt.Sprintf("`%s`: %d deltas", l.Name, l.Deltas)
		if l.Rate > 0 {
			text += fmt.Sprintf(" at %g a second", l.Rate)
		}
		if l.Sessions > 1 {
			text += fmt.Sprintf(" in each of %d sessions", l.Sessions)
		}
		if l.Share > 1 {
			text += fmt.Sprintf(", %d to a stand-in", l.Share)
		}
		if l.Slow > 0 {
			text += ", with a listener that takes " + Figure(float64(l.Slow), bench.Seconds) + " for each"
		}
		out = append(out, text)
	}
	return "Loads: " + strings.Join(out, "; ") + "."
}

// markdown writes lines, and keeps the first error.
type markdown struct {
	w   io.Writer
	err error
}

func (m *markdown) line(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format+"\n", args...)
	}
}

func (m *markdown) table(columns ...string) {
	m.line("")
	m.row(columns...)
	m.line("%s|", strings.Repeat("|---", len(columns)))
}

// plain takes from a name what Markdown would read.
var plain = strings.NewReplacer("<", "&lt;", "|", "&#124;", "*", "&#42;", "_", "&#95;")

func (m *markdown) row(cells ...string) {
	m.line("| %s |", strings.Join(cells, " | "))
}
