// Package report answers one question: how is the outcome of a run shown?
//
// A table for people and failures with all that is needed to understand them on
// the terminal; JSON, from which all other forms are made, alone or merged from
// shards (Merge); JUnit for CI systems, Markdown for a pull request, and HTML
// to look at every play.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// Style colours text; the zero value does not.
type Style struct{ Color bool }

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Good colours what passed.
func (s Style) Good(t string) string { return s.paint("32", t) }

// Bad colours what failed.
func (s Style) Bad(t string) string { return s.paint("31;1", t) }

// Dim colours what matters less.
func (s Style) Dim(t string) string { return s.paint("2", t) }

// cell sums up a check on a subject over all cases.
type cell struct {
	pass, sent, fail, known, unrecorded, other, na, looked int
	warns                                                  bool // a failure is a warning
}

// Table writes checks × subjects: how many cases passed, and how much was
// looked at.
func Table(w io.Writer, d *Document, st Style) error {
	var checks, subjects []string
	cells := map[[2]string]*cell{}
	for _, r := range d.Results {
		id := r.Check
		if !slices.Contains(checks, id) {
			checks = append(checks, id)
		}
		if !slices.Contains(subjects, r.Subject) {
			subjects = append(subjects, r.Subject)
		}
		k := [2]string{id, r.Subject}
		if cells[k] == nil {
			cells[k] = &cell{}
		}
		cells[k].add(r)
	}
	width := len("check")
	for _, c := range checks {
		width = max(width, len(c))
	}
	const column = 34
	var head strings.Builder
	fmt.Fprintf(&head, "%-*s", width, "check")
	for _, s := range subjects {
		fmt.Fprintf(&head, "  %-*s", column, clip(s, column))
	}
	if _, err := fmt.Fprintln(w, st.Dim(strings.TrimRight(head.String(), " "))); err != nil {
		return err
	}
	for _, id := range checks {
		var line strings.Builder
		fmt.Fprintf(&line, "%-*s", width, id)
		for _, s := range subjects {
			c := cells[[2]string{id, s}]
			if c == nil {
				c = &cell{}
			}
			text := c.text()
			pad := strings.Repeat(" ", max(0, column-len(text)))
			line.WriteString("  " + c.paint(st, text) + pad)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "\n"+Summary(d, st))
	return err
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-1] + "…"
}

func (c *cell) add(r Entry) {
	c.looked += r.Looked
	switch conformance.Verdict(r.Verdict) {
	case conformance.Pass:
		c.pass++
	case conformance.Sent:
		c.sent++
	case conformance.NotApplicable:
		c.na++
	case conformance.Fail, conformance.HarnessError, conformance.NotTestable:
		if r.Known != nil {
			c.known++
			break
		}
		c.fail++
		c.warns = r.Severity == conformance.Should.String()
	case conformance.Unrecorded:
		c.unrecorded++
	default:
		c.other++
	}
}

func (c *cell) text() string {
	switch {
	case c.fail > 0:
		word := "FAIL"
		if c.warns {
			word = "WARN"
		}
		return fmt.Sprintf("%s %d of %d cases", word, c.fail, c.judged())
	case c.known > 0:
		return fmt.Sprintf("known %2d of %d cases fail", c.known, c.judged())
	case c.pass+c.sent == 0 && c.unrecorded > 0:
		return fmt.Sprintf("unrecorded in %d cases", c.unrecorded)
	case c.pass+c.sent == 0 && c.other > 0:
		return fmt.Sprintf("not expressible in %d cases", c.other)
	case c.unrecorded > 0:
		return fmt.Sprintf("pass  %3d cases, %d unrecorded", c.pass+c.sent, c.unrecorded)
	case c.other > 0:
		return fmt.Sprintf("pass  %3d cases, %d not expressible", c.pass+c.sent, c.other)
	case c.pass+c.sent == 0:
		return "not applicable"
	case c.sent > 0:
		return fmt.Sprintf("sent  %3d cases %7d looked at", c.sent+c.pass, c.looked)
	}
	return fmt.Sprintf("pass  %3d cases %7d looked at", c.pass, c.looked)
}

// judged is on how many cases there was something to look at.
func (c *cell) judged() int { return c.fail + c.known + c.pass + c.sent + c.other + c.unrecorded }

func (c *cell) paint(st Style, text string) string {
	switch {
	case c.fail > 0 && !c.warns:
		return st.Bad(text)
	case c.pass+c.sent == 0 || c.other+c.unrecorded+c.fail+c.known > 0:
		return st.Dim(text)
	}
	return st.Good(text)
}

// Summary is the closing line.
func Summary(d *Document, st Style) string {
	n, known := d.count()
	head := fmt.Sprintf("%d cases and %d runs with a fault: %d verdicts", d.Cases, d.Harms, len(d.Results))
	if d.Harms > 0 && d.Selection.Seed > 0 {
		head = fmt.Sprintf("%d cases and %d runs with a fault (seed %d): %d verdicts", d.Cases, d.Harms, d.Selection.Seed, len(d.Results))
	}
	if d.Shard != nil {
		head = fmt.Sprintf("shard %v, %s", d.Shard, head)
	}
	parts := []string{head}
	for _, v := range verdicts {
		if n[v] > 0 {
			text := fmt.Sprintf("%d %s", n[v], v)
			if v.Bad() {
				text = st.Bad(text)
			}
			parts = append(parts, text)
		}
	}
	if known > 0 {
		parts = append(parts, fmt.Sprintf("%d known to fail", known))
	}
	switch stale := len(d.Stale()); stale {
	case 0:
	case 1:
		parts = append(parts, st.Bad("a known failure is stale"))
	default:
		parts = append(parts, st.Bad(fmt.Sprintf("%d known failures are stale", stale)))
	}
	for _, id := range d.Missing {
		parts = append(parts, st.Bad("no case gave a verdict on "+id))
	}
	return strings.Join(parts, ", ")
}

// verdicts in the order in which they are told.
var verdicts = []conformance.Verdict{conformance.Pass, conformance.Sent, conformance.Fail, conformance.NotApplicable,
	conformance.NotExpressible, conformance.NotTestable, conformance.Unrecorded, conformance.HarnessError}

// count counts the verdicts, those that were known to be bad apart.
func (d *Document) count() (n map[conformance.Verdict]int, known int) {
	n = map[conformance.Verdict]int{}
	for _, e := range d.Results {
		if e.Known != nil {
			known++
			continue
		}
		n[conformance.Verdict(e.Verdict)]++
	}
	return n, known
}
