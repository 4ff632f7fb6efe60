// Package table writes plain text, aligned tables and Markdown. It is not part of the
// stable interface.
package table

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Writer writes to an io.Writer and keeps the first error, so that its caller
// checks Err once.
type Writer struct {
	w   io.Writer
	err error
}

// New returns a Writer.
func New(w io.Writer) *Writer { return &Writer{w: w} }

// Err returns the first error of a write.
func (w *Writer) Err() error { return w.err }

// Printf writes formatted text.
func (w *Writer) Printf(format string, a ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, a...)
	}
}

// Columns writes rows as left-aligned columns, two spaces apart, each row after
// indent. A cell may hold colour codes: they take no room.
func (w *Writer) Columns(indent string, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		line.WriteString(indent)
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-Width(cell)+2))
		}
		w.Printf("%s\n", strings.TrimRight(line.String(), " "))
	}
}

var colourCode = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Width returns how many columns a line takes. It may hold colour codes.
func Width(s string) int { return utf8.RuneCountInString(colourCode.ReplaceAllString(s, "")) }

// Align is how Markdown aligns a column of numbers: see Markdown.
const Align = "#"

// Markdown writes a Markdown table. A column whose head begins with Align is
// aligned to the right.
func (w *Writer) Markdown(head []string, rows [][]string) {
	rule := make([]string, len(head))
	names := make([]string, len(head))
	for i, name := range head {
		var isNumber bool
		names[i], isNumber = strings.CutPrefix(name, Align)
		rule[i] = "---"
		if isNumber {
			rule[i] = "---:"
		}
	}
	w.writeRow(names)
	w.Printf("|%s|\n", strings.Join(rule, "|"))
	for _, row := range rows {
		w.writeRow(row)
	}
}

func (w *Writer) writeRow(cells []string) { w.Printf("| %s |\n", strings.Join(cells, " | ")) }

var escapes = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "\n", " ", "[", `\[`)

// Escape returns s so that Markdown shows it as it is, on one line.
func Escape(s string) string { return escapes.Replace(s) }

var cellEscapes = strings.NewReplacer("|", `\|`, "\n", " ")

// Cell returns Markdown so that it fits into a cell of a table.
func Cell(markdown string) string { return cellEscapes.Replace(markdown) }
