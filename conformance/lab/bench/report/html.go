package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/turnspec/turnspec/conformance/lab/bench"
	"github.com/turnspec/turnspec/conformance/lab/bench/gate"
)

// Pages are built by functions and not by html/template, because a program that executes a
// template keeps each method of each type that it links: turnspec would be a sixth larger.

//go:embed page.css
var pageCSS string

// HTML writes a self-contained page with plots.
func HTML(w io.Writer, r Report) error {
	var verdicts strings.Builder
	if err := Gates(&verdicts, r.Verdicts); err != nil {
		return err
	}
	gates := strings.TrimSpace(verdicts.String())
	page := h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.TitleEl(g.Text("Turnspec benchmark")),
			h.StyleEl(g.Raw(pageCSS)),
		),
		h.Body(
			h.H1(g.Text("Turnspec benchmark")),
			r.playedNode(),
			g.If(gates != "", h.Pre(g.Text(gates))),
			g.Map(r.Notes, func(note string) g.Node { return h.P(g.Text("Note: " + note)) }),
			h.H2(g.Text("Plots")),
			g.Map(r.plots(), plot.node),
			h.H2(g.Text("Ratios to the controls")),
			g.Map(r.ratios(), group.node),
			h.H2(g.Text("Absolute figures, of this machine only")),
			r.machineNode(),
			r.absoluteNode(),
		),
	))
	return page.Render(w)
}

// playedNode says when the benchmark ran, and what it played.
func (r Report) playedNode() g.Node {
	var cases []g.Node
	for i, c := range r.Cases {
		if i > 0 {
			cases = append(cases, g.Text(", "))
		}
		cases = append(cases, h.Code(g.Text(c)))
	}
	return h.P(
		g.Textf("%d interleaved repeats, %s, turnspec %s. Played: ", r.Repeats, r.Started.Format("2006-01-02 15:04 MST"), r.Turnspec),
		g.Group(cases),
		g.Text(". Ratios hold from machine to machine; absolute figures are this machine's."),
	)
}

// machineNode describes the machine.
func (r Report) machineNode() g.Node {
	m := r.Machine
	node := ""
	if m.Node != "" {
		node = ", Node " + m.Node
	}
	return h.P(g.Textf("%s/%s, %d processors, %s%s; %s.",
		m.OS, m.Arch, m.Processors, m.Go, node, work(m)))
}

func (r Report) absoluteNode() g.Node {
	return h.Table(
		rowNode(h.Th, "runtime", "load", "contender", "measure", "median", "from", "to"),
		g.Map(r.sorted(), func(s bench.Series) g.Node {
			i := gate.Of(s.Samples)
			return rowNode(h.Td, s.Runtime, s.Load, s.Contender, s.Measure, Figure(i.Median, s.Unit), Figure(i.Low, s.Unit), Figure(i.High, s.Unit))
		}),
	)
}

// rowNode is a row of a table.
func rowNode(cell func(...g.Node) g.Node, texts ...string) g.Node {
	return h.Tr(g.Map(texts, func(text string) g.Node { return cell(g.Text(text)) }))
}

func (t group) node() g.Node {
	head := []string{"subject", "measure"}
	for _, name := range t.controls {
		head = append(head, "× "+name)
	}
	var rows []g.Node
	for _, row := range t.rows {
		cells := []string{row.subject, row.measure}
		for _, name := range t.controls {
			cells = append(cells, formatRatio(row.of[name]))
		}
		rows = append(rows, rowNode(h.Td, cells...))
	}
	return g.Group{h.H3(g.Text(t.runtime + ", load " + t.load)), h.Table(rowNode(h.Th, head...), g.Group(rows))}
}

// node draws the plot.
func (p plot) node() g.Node {
	return h.Figure(
		h.FigCaption(g.Text(p.Title)),
		h.SVG(
			g.Attr("viewBox", fmt.Sprintf("0 0 %d %d", p.Width, p.Height)), h.Width(fmt.Sprint(p.Width)), h.Height(fmt.Sprint(p.Height)),
			h.Role("img"), h.Aria("label", p.Title),
			g.Map(p.XTicks, func(t tick) g.Node {
				return g.Group{
					lineNode(t.At, t.At, p.Top, p.Bottom),
					textNode(t.At, p.Bottom, t.Text, g.Attr("dy", "14"), g.Attr("text-anchor", "middle")),
				}
			}),
			g.Map(p.YTicks, func(t tick) g.Node {
				return g.Group{
					lineNode(p.Left, p.Right, t.At, t.At),
					textNode(p.Left, t.At, t.Text, g.Attr("dx", "-6"), g.Attr("dy", "4"), g.Attr("text-anchor", "end")),
				}
			}),
			textNode(p.Left, float64(p.Height), p.X, g.Attr("dy", "-4")),
			g.Map(p.Lines, func(l plotLine) g.Node {
				return g.Group{
					g.El("path", g.Attr("d", l.Path), g.Attr("fill", "none"), g.Attr("stroke", l.Color), g.Attr("stroke-width", "2")),
					textNode(l.LabelX, l.LabelY, l.Name, g.Attr("dy", "4"), h.Style("fill:"+l.Color)),
				}
			}),
		),
	)
}

func lineNode(x1, x2, y1, y2 float64) g.Node {
	return g.El("line", number("x1", x1), number("x2", x2), number("y1", y1), number("y2", y2), g.Attr("stroke", "var(--line)"))
}

func textNode(x, y float64, text string, attributes ...g.Node) g.Node {
	return g.El("text", number("x", x), number("y", y), g.Group(attributes), g.Text(text))
}

// number is an attribute that holds a position.
func number(name string, v float64) g.Node { return g.Attr(name, fmt.Sprintf("%.5g", v)) }
