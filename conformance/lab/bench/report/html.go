package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The page is a file with its data, which its script draws, as the report of a run and the page
// of a chat are. A program that executes a template of html/template keeps each method of each
// type that it links: turnspec would grow by 4.4 MB.

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// pageData is what the page draws.
type pageData struct {
	About    string      `json:"about"`
	Cases    []string    `json:"cases"`
	Gates    string      `json:"gates"`
	Notes    []string    `json:"notes"`
	Plots    []plot      `json:"plots"`
	Ratios   []pageTable `json:"ratios"`
	Machine  string      `json:"machine"`
	Absolute pageTable   `json:"absolute"`
}

type pageTable struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}

// HTML writes a self-contained page with plots.
func HTML(w io.Writer, r Report) error {
	var verdicts strings.Builder
	if err := Gates(&verdicts, r.Verdicts); err != nil {
		return err
	}
	page := pageData{
		About: fmt.Sprintf("%d interleaved repeats, %s, turnspec %s.", r.Repeats, r.Started.Format("2006-01-02 15:04 MST"), r.Turnspec),
		Cases: r.Cases, Gates: strings.TrimSpace(verdicts.String()), Notes: r.Notes, Plots: r.plots(), Machine: r.machine(),
		Absolute: pageTable{Head: []string{"runtime", "load", "contender", "measure", "median", "from", "to"}},
	}
	for _, t := range r.ratios() {
		page.Ratios = append(page.Ratios, t.table())
	}
	for _, s := range r.sorted() {
		i := NewInterval(s.Samples)
		page.Absolute.Rows = append(page.Absolute.Rows, []string{s.Runtime, s.Load, s.Contender, s.Measure, Figure(i.Median, s.Unit), Figure(i.Low, s.Unit), Figure(i.High, s.Unit)})
	}
	data, err := json.Marshal(page, json.Deterministic(true), jsontext.EscapeForHTML(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer("{{css}}", pageCSS, "{{js}}", pageJS, "{{data}}", string(data)).WriteString(w, pageHTML)
	return err
}

// machine describes the machine.
func (r Report) machine() string {
	m := r.Machine
	node := ""
	if m.Node != "" {
		node = ", Node " + m.Node
	}
	return fmt.Sprintf("%s/%s, %d processors, %s%s; %s.", m.OS, m.Arch, m.Processors, m.Go, node, work(m))
}

func (t group) table() pageTable {
	out := pageTable{Title: t.runtime + ", load " + t.load, Head: []string{"subject", "measure"}}
	for _, name := range t.controls {
		out.Head = append(out.Head, "× "+name)
	}
	for _, row := range t.rows {
		cells := []string{row.subject, row.measure}
		for _, name := range t.controls {
			cells = append(cells, formatRatio(row.of[name]))
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}
