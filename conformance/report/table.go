// Package report answers one question: how is the outcome of a run shown?
//
// A table for people, failures with all that is needed to understand them, and
// JSON for programs.
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
	pass, sent, fail, unrecorded, other, na, looked int
	warns                                           bool // a failure is a warning
}

// Table writes checks × subjects: how many cases passed, and how much was
// looked at.
func Table(w io.Writer, rep *conformance.Report, st Style) error {
	var checks, subjects []string
	cells := map[[2]string]*cell{}
	for _, r := range rep.Results {
		id := r.Check.ID
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
	_, err := fmt.Fprintln(w, "\n"+Summary(rep, st))
	return err
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-1] + "…"
}

func (c *cell) add(r conformance.Result) {
	c.looked += r.Looked
	switch r.Verdict {
	case conformance.Pass:
		c.pass++
	case conformance.Sent:
		c.sent++
	case conformance.NotApplicable:
		c.na++
	case conformance.Fail, conformance.HarnessError, conformance.NotTestable:
		c.fail++
		c.warns = r.Check.Severity == conformance.Should
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
		return fmt.Sprintf("%s %d of %d cases", word, c.fail, c.fail+c.pass+c.sent+c.other+c.unrecorded)
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

func (c *cell) paint(st Style, text string) string {
	switch {
	case c.fail > 0 && !c.warns:
		return st.Bad(text)
	case c.pass+c.sent == 0 || c.other+c.unrecorded+c.fail > 0:
		return st.Dim(text)
	}
	return st.Good(text)
}

// Summary is the closing line.
func Summary(rep *conformance.Report, st Style) string {
	n := map[conformance.Verdict]int{}
	for _, r := range rep.Results {
		n[r.Verdict]++
	}
	parts := []string{fmt.Sprintf("%d cases and %d runs with a fault: %d verdicts", rep.Cases, rep.Harms, len(rep.Results))}
	for _, v := range []conformance.Verdict{conformance.Pass, conformance.Sent, conformance.Fail, conformance.NotApplicable,
		conformance.NotExpressible, conformance.NotTestable, conformance.Unrecorded, conformance.HarnessError} {
		if n[v] > 0 {
			text := fmt.Sprintf("%d %s", n[v], v)
			if v.Bad() {
				text = st.Bad(text)
			}
			parts = append(parts, text)
		}
	}
	for _, c := range rep.Missing {
		parts = append(parts, st.Bad("no case gave a verdict on "+c.ID))
	}
	return strings.Join(parts, ", ")
}
