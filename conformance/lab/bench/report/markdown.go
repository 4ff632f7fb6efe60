package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance/lab/bench"
	"github.com/turnspec/turnspec/conformance/report/table"
)

// Markdown writes a report for a documentation page: the loads, the gates, the
// ratios to the controls, and the absolute figures folded.
func Markdown(w io.Writer, r Report) error {
	out := table.New(w)
	mc := r.Machine
	out.Printf("%s\n\n%s, %d repeats, %s/%s, %d processors, %s; %s.\n", r.loads(),
		r.Started.UTC().Format("2006-01-02"), r.Repeats, mc.OS, mc.Arch, mc.Processors, mc.Go, work(mc))
	for _, n := range r.Notes {
		out.Printf("\nNote: %s.\n", strings.TrimSuffix(n, "."))
	}
	if len(r.Verdicts) > 0 {
		var rows [][]string
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
			rows = append(rows, []string{"`" + v.Gate + "`", escapeName(v.Subject), v.Load, formatVerdict(v), word})
		}
		out.Printf("\n")
		out.Markdown([]string{"gate", "subject", "load", "figure", ""}, rows)
	}
	for _, g := range r.ratios() {
		var rows [][]string
		for _, row := range g.rows {
			cells := []string{escapeName(row.subject), row.measure}
			for _, c := range g.controls {
				cells = append(cells, formatRatio(row.of[c]))
			}
			rows = append(rows, cells)
		}
		out.Printf("\n**%s, load %s**, times the control:\n\n", g.runtime, g.load)
		out.Markdown(append([]string{"subject", "measure"}, g.controls...), rows)
	}
	out.Printf("\n<details><summary>Absolute figures, of this machine only</summary>\n\n")
	var rows [][]string
	for _, s := range r.sorted() {
		if shown(&s) {
			rows = append(rows, absoluteCells(s, escapeName(s.Contender)))
		}
	}
	out.Markdown([]string{"runtime", "load", "contender", "measure", "median", "from", "to"}, rows)
	out.Printf("\n</details>\n")
	return out.Err()
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
