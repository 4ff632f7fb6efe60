package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance/lab/bench"
	"github.com/turnspec/turnspec/conformance/report/table"
)

// Markdown writes a report for a documentation page.
func Markdown(w io.Writer, r Report) error {
	out := table.New(w)
	out.Sections(r.Sections())
	return out.Err()
}

// Sections returns a report for a documentation page: the loads, the gates, the ratios to the
// controls, and the absolute figures folded.
func (r Report) Sections() []table.Section {
	mc := r.Machine
	head := table.Section{Text: fmt.Sprintf("%s\n\n%s, %d repeats, %s/%s, %d processors, %s; %s.", r.loads(),
		r.Started.UTC().Format("2006-01-02"), r.Repeats, mc.OS, mc.Arch, mc.Processors, mc.Go, work(mc))}
	for _, n := range r.Notes {
		head.Text += "\n\nNote: " + strings.TrimSuffix(n, ".") + "."
	}
	if len(r.Verdicts) > 0 {
		head.Head = []string{"gate", "subject", "load", "figure", ""}
	}
	for _, v := range r.Verdicts {
		word := "reached"
		switch {
		case v.Failed:
			word = "**not reached**"
		case v.Disturbed:
			word = "past the limit, while other programs took the processors"
		case v.Doubtful:
			word = "past the limit, within the noise"
		}
		head.Rows = append(head.Rows, []string{"`" + v.Gate + "`", escapeName(v.Subject), v.Load, formatVerdict(v), word})
	}
	out := []table.Section{head}
	for _, g := range r.ratios() {
		t := table.Section{Text: fmt.Sprintf("**%s, load %s**, times the control:", g.runtime, g.load), Head: append([]string{"subject", "measure"}, g.controls...)}
		for _, row := range g.rows {
			cells := []string{escapeName(row.subject), row.measure}
			for _, c := range g.controls {
				cells = append(cells, formatRatio(row.of[c]))
			}
			t.Rows = append(t.Rows, cells)
		}
		out = append(out, t)
	}
	absolute := table.Section{Fold: "Absolute figures, of this machine only", Head: []string{"runtime", "load", "contender", "measure", "median", "from", "to"}}
	for _, s := range r.sorted() {
		if shown(&s) {
			absolute.Rows = append(absolute.Rows, absoluteCells(s, escapeName(s.Contender)))
		}
	}
	return append(out, absolute)
}

// loads describes the loads.
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

// escapeName escapes what Markdown or HTML would interpret in a name.
func escapeName(name string) string { return nameEscapes.Replace(name) }

var nameEscapes = strings.NewReplacer("<", "&lt;", "|", "&#124;", "*", "&#42;", "_", "&#95;")
