package main

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
)

// screen is what a terminal shows of the output of a program: lines that wrap at the width,
// which carriage returns overwrite, with bold, dim and colored text. It handles the control
// sequences that turnspec writes, and drops others.
type screen struct {
	width    int
	rows     [][]cell
	row, col int
	style    string // classes of the text that follows
}

type cell struct {
	char  rune
	style string
}

// show returns what a terminal of this width shows of an output.
func show(output string, width int) *screen {
	s := &screen{width: width}
	for rest := []rune(output); len(rest) > 0; {
		switch c := rest[0]; {
		case c == '\x1b' && len(rest) > 1 && rest[1] == '[':
			end := 2
			for end < len(rest) && (rest[end] < '@' || rest[end] > '~') {
				end++
			}
			if end < len(rest) {
				s.control(string(rest[2:end]), rest[end])
			}
			rest = rest[min(end+1, len(rest)):]
			continue
		case c == '\r':
			s.col = 0
		case c == '\n':
			s.row++
		case c == '\b':
			s.col = max(0, s.col-1)
		case c >= ' ':
			s.put(c)
		}
		rest = rest[1:]
	}
	return s
}

func (s *screen) put(c rune) {
	if s.col >= s.width {
		s.row, s.col = s.row+1, 0
	}
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[s.row]) <= s.col {
		s.rows[s.row] = append(s.rows[s.row], cell{char: ' '})
	}
	s.rows[s.row][s.col] = cell{c, s.style}
	s.col++
}

// control handles a control sequence: ESC [ arguments final.
func (s *screen) control(arguments string, final rune) {
	switch final {
	case 'H':
		s.row, s.col = 0, 0
	case 'A':
		n, _ := strconv.Atoi(arguments)
		s.row = max(0, s.row-max(n, 1))
	case 'J':
		s.rows = nil
	case 'K':
		if s.row < len(s.rows) && s.col < len(s.rows[s.row]) {
			s.rows[s.row] = s.rows[s.row][:s.col]
		}
	case 'm':
		s.style = ""
		for code := range strings.SplitSeq(arguments, ";") {
			if code != "" && code != "0" {
				s.style = strings.TrimSpace(s.style + " s" + code)
			}
		}
	}
}

// text returns the lines without styles.
func (s *screen) text() string {
	var b strings.Builder
	for _, row := range s.rows {
		line := make([]rune, len(row))
		for i, c := range row {
			line[i] = c.char
		}
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return strings.Trim(b.String(), "\n") + "\n"
}

// dropBlank removes blank rows at the beginning and at the end.
func (s *screen) dropBlank() {
	blank := func(row []cell) bool {
		return !slices.ContainsFunc(row, func(c cell) bool { return c.char != ' ' })
	}
	for len(s.rows) > 0 && blank(s.rows[0]) {
		s.rows = s.rows[1:]
	}
	for len(s.rows) > 0 && blank(s.rows[len(s.rows)-1]) {
		s.rows = s.rows[:len(s.rows)-1]
	}
}

// span is text of one style.
type span struct{ Style, Text string }

// screenPage draws a screen.
var screenPage = template.Must(template.New("screen").Parse(`<!doctype html><meta charset="utf-8"><style>` + screenCSS +
	`</style><body class="{{.Scheme}}"><pre style="width:{{.Width}}ch">` +
	`{{range .Rows}}{{range .}}<span class="{{.Style}}">{{.Text}}</span>{{end}}{{"\n"}}{{end}}</pre>`))

// html returns the screen as a page. Dark selects its colors.
func (s *screen) html(dark bool) (string, error) {
	s.dropBlank()
	page := struct {
		Scheme string
		Width  int
		Rows   [][]span
	}{"light", s.width, nil}
	if dark {
		page.Scheme = "dark"
	}
	for _, row := range s.rows {
		var spans []span
		for i, c := range row {
			if i == 0 || row[i-1].style != c.style {
				spans = append(spans, span{Style: c.style})
			}
			spans[len(spans)-1].Text += string(c.char)
		}
		page.Rows = append(page.Rows, spans)
	}
	var b strings.Builder
	err := screenPage.Execute(&b, page)
	return b.String(), err
}

// screenCSS has the colors that terminals have by default.
const screenCSS = `body { margin: 0; padding: 14px 16px; width: max-content; }
pre { margin: 0; font: 13px/1.35 "DejaVu Sans Mono", monospace; }
.dark { background: #171a1f; color: #d9dce1; } .light { background: #fff; color: #1d2025; }
.s1 { font-weight: bold; } .s2 { opacity: 0.6; }
.dark .s31 { color: #ff7b72; } .light .s31 { color: #c0261c; }
.dark .s32 { color: #6fd38f; } .light .s32 { color: #17713a; }
.dark .s33 { color: #e5b95c; } .light .s33 { color: #8a5a00; }
.dark .s36 { color: #6fc7d8; } .light .s36 { color: #10707f; }`
