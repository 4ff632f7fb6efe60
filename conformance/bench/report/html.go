package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance/bench/gate"
)

//go:embed page.html
var page string

var pageTemplate = template.Must(template.New("page").Parse(page))

// HTML writes a self-contained page with plots.
func HTML(w io.Writer, r Report) error {
	type figure struct{ Runtime, Load, Who, Measure, Median, From, To string }
	type cells struct {
		Subject, Measure string
		Cells            []string
	}
	type table struct {
		Title    string
		Controls []string
		Rows     []cells
	}
	var verdicts strings.Builder
	if err := Gates(&verdicts, r.Verdicts); err != nil {
		return err
	}
	in := struct {
		Report   Report
		Gates    string
		Tables   []table
		Absolute []figure
		Plots    []plot
	}{Report: r, Gates: strings.TrimSpace(verdicts.String()), Plots: r.plots()}
	for _, g := range r.ratios() {
		t := table{Title: g.runtime + ", load " + g.load, Controls: g.controls}
		for _, row := range g.rows {
			c := cells{Subject: row.subject, Measure: row.measure}
			for _, name := range g.controls {
				c.Cells = append(c.Cells, formatRatio(row.of[name]))
			}
			t.Rows = append(t.Rows, c)
		}
		in.Tables = append(in.Tables, t)
	}
	for _, s := range r.sorted() {
		i := gate.Of(s.Samples)
		in.Absolute = append(in.Absolute, figure{s.Runtime, s.Load, s.Contender, s.Measure, Figure(i.Median, s.Unit), Figure(i.Low, s.Unit), Figure(i.High, s.Unit)})
	}
	return pageTemplate.Execute(w, in)
}
