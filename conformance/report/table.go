// Package report writes the outcome of a run. It is not part of the stable interface.
//
// New makes a Document of a conformance.Report. Console, Table and Failures write it for
// a terminal, JSON for programs, JUnit for CI systems, Markdown for a pull request,
// and HTML as a page that shows every run. The other forms can be made from the
// JSON too; Merge joins the documents of shards.
package report

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report/table"
)

// Style colours text. Its zero value does not.
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

// Dim colours what is less important.
func (s Style) Dim(t string) string { return s.paint("2", t) }

// cell sums up the results of a check for a subject.
type cell struct {
	count      map[word]int
	follow     int // failures after another check in the same run
	assertions int
	warns      bool // a failure is a warning
	flakyFails bool // a flaky verdict fails the run
}

// Table writes a row for each check and a column for each subject: the cases that
// passed and the assertions that were made on them.
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
			cells[k] = &cell{count: map[word]int{}, flakyFails: d.Selection.FailOnFlaky}
		}
		cells[k].addResult(r)
	}
	head := []string{st.Dim("check")}
	for _, name := range subjects {
		head = append(head, st.Dim(clipLine(name, maxSubject)))
	}
	rows := [][]string{head}
	for _, id := range checks {
		row := []string{id}
		for _, name := range subjects {
			c := cells[[2]string{id, name}]
			if c == nil {
				c = &cell{}
			}
			row = append(row, c.paint(st, c.summary()))
		}
		rows = append(rows, row)
	}
	out := table.New(w)
	out.Columns("", rows)
	return out.Err()
}

// maxSubject bounds the name of a subject in the table.
const maxSubject = 34

// clipLine shortens a line to n bytes, at a character, and shows that it did.
func clipLine(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n--; n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + "…"
}

func (c *cell) addResult(r Entry) {
	w := wordOf(r)
	c.count[w]++
	c.assertions += r.Assertions
	if w == wordFail && r.Follows != "" {
		c.follow++
	}
	if w == wordFail || w == wordFlaky {
		c.warns = r.Severity == conformance.Should.String()
	}
}

func (c *cell) summary() string {
	fail, flaky, pass := c.count[wordFail], c.count[wordFlaky], c.count[wordPass]
	switch {
	case fail > 0:
		label := "FAIL"
		if c.warns {
			label = "WARN"
		}
		text := fmt.Sprintf("%s %d of %d cases", label, fail, c.judgedCases())
		if c.follow > 0 {
			text += fmt.Sprintf(", %d follow", c.follow)
		}
		if flaky > 0 {
			text += fmt.Sprintf(", %d flaky", flaky)
		}
		return text
	case flaky > 0:
		label := "flaky"
		if c.fails() {
			label = "FLAKY"
		}
		return fmt.Sprintf("%s %d of %d cases", label, flaky, c.judgedCases())
	case c.count[wordKnown] > 0:
		return fmt.Sprintf("known %2d of %d cases fail", c.count[wordKnown], c.judgedCases())
	}
	for _, w := range []word{wordNotDeclared, wordNotTried} {
		switch n := c.count[w]; {
		case n > 0 && pass > 0:
			return fmt.Sprintf("pass  %3d cases, %d %s", pass, n, w)
		case n > 0:
			return fmt.Sprintf("%s in %d cases", w, n)
		}
	}
	if pass == 0 {
		return string(wordNotApplicable)
	}
	return fmt.Sprintf("pass  %3d cases %7d assertions", pass, c.assertions)
}

// judgedCases is on how many cases there was a verdict on the subject.
func (c *cell) judgedCases() int { return c.failedCases() + c.count[wordPass] }

func (c *cell) failedCases() int {
	return c.count[wordFail] + c.count[wordFlaky] + c.count[wordKnown]
}

// fails reports whether one of the results fails the run.
func (c *cell) fails() bool {
	return !c.warns && (c.count[wordFail] > 0 || c.count[wordFlaky] > 0 && c.flakyFails)
}

func (c *cell) paint(st Style, text string) string {
	switch {
	case c.fails():
		return st.Bad(text)
	case c.count[wordPass] == 0 || c.failedCases()+c.count[wordNotDeclared] > 0:
		return st.Dim(text)
	}
	return st.Good(text)
}
