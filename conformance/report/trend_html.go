package report

import (
	_ "embed"
	"fmt"
	"io"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

//go:embed page/trend.css
var trendCSS string

// The size of the picture of a trend, in its own units. Its width follows the points.
const (
	trendHeight = 160
	trendStep   = 28
	trendBar    = 20
	trendLeft   = 34
	trendTop    = 8
)

// bar is a part of a report in the picture.
type bar struct {
	Class, Title string
	X, Y, Height float64
}

// bars returns the parts of each report, stacked: the checks that passed, those that
// failed, and those without a verdict. The highest total fills the picture.
func (t Trend) bars() (out []bar, most int) {
	for _, p := range t.Points {
		most = max(most, p.Total)
	}
	for i, p := range t.Points {
		bottom := float64(trendTop + trendHeight)
		for _, part := range []struct {
			class, title string
			n            int
		}{{"passed", "passed", p.Passed}, {"failed", "failed", p.Failed}, {"unsettled", "without a verdict", p.Unsettled}} {
			if part.n == 0 {
				continue
			}
			height := float64(part.n) / float64(most) * trendHeight
			bottom -= height
			out = append(out, bar{part.class, fmt.Sprintf("%s: %s, %d %s", p.Name, p, part.n, part.title), float64(trendLeft + i*trendStep), bottom, height})
		}
	}
	return out, most
}

// trendPolicy forbids the page to load or run anything.
const trendPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

// TrendHTML writes the trends as a page without references: a picture and a table for each.
// Package conformance/lab/bench/report says why it is no template.
func TrendHTML(w io.Writer, trends []Trend) error {
	page := h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(trendPolicy)),
			h.Link(h.Rel("icon"), h.Href("data:,")),
			h.TitleEl(g.Text("Turnspec: trend")),
			h.StyleEl(g.Raw(trendCSS)),
		),
		h.Body(
			h.H1(g.Text("Turnspec: trend")),
			g.Map(trends, Trend.node),
		),
	))
	return page.Render(w)
}

func (t Trend) node() g.Node {
	return g.Group{
		h.H2(g.Text(t.Subject)),
		scrollNode("The checks of each report, as bars", t.picture()),
		h.Ul(h.Class("key"), keyNode("passed", "passed"), keyNode("failed", "failed, known failures and flaky checks too"), keyNode("unsettled", "without a verdict")),
		scrollNode("The reports as a table", t.table()),
	}
}

// scrollNode is a region that the keyboard can scroll.
func scrollNode(label string, content g.Node) g.Node {
	return h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("group"), h.Aria("label", label), content)
}

// keyNode explains a color.
func keyNode(class, text string) g.Node {
	return h.Li(
		h.SVG(g.Attr("viewBox", "0 0 8 8"), h.Aria("hidden", "true"), g.El("rect", h.Class(class), h.Width("8"), h.Height("8"))),
		g.Text(" "+text),
	)
}

// picture draws the reports as bars.
func (t Trend) picture() g.Node {
	bars, most := t.bars()
	width, height, bottom := fmt.Sprint(trendLeft+len(t.Points)*trendStep+trendStep), fmt.Sprint(trendTop+trendHeight+trendTop), fmt.Sprint(trendTop+trendHeight)
	return h.SVG(h.Role("img"), h.Width(width), h.Height(height), g.Attr("viewBox", "0 0 "+width+" "+height), h.Aria("label", "The table below has the same numbers."),
		g.El("text", g.Attr("x", "0"), g.Attr("y", "16"), g.Text(fmt.Sprint(most))),
		g.El("text", g.Attr("x", "0"), g.Attr("y", bottom), g.Text("0")),
		g.El("line", g.Attr("x1", "28"), g.Attr("x2", width), g.Attr("y1", bottom), g.Attr("y2", bottom)),
		g.Map(bars, func(b bar) g.Node {
			return g.El("rect", h.Class(b.Class), g.Attr("x", fmt.Sprint(b.X)), g.Attr("y", fmt.Sprint(b.Y)), h.Width(fmt.Sprint(trendBar)), h.Height(fmt.Sprint(b.Height)),
				g.El("title", g.Text(b.Title)))
		}),
	)
}

func (t Trend) table() g.Node {
	return h.Table(
		h.THead(h.Tr(g.Map(trendHead, func(name string) g.Node { return h.Th(g.Text(name)) }))),
		h.TBody(g.Map(t.Points, func(p TrendPoint) g.Node {
			return h.Tr(g.If(p.Red, h.Class("red")), g.Map(p.columns(), func(text string) g.Node { return h.Td(g.Text(text)) }))
		})),
	)
}
