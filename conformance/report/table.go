// Package report writes the outcome of a run.
//
// New makes a Document of a conformance.Report. Table and Failures write it for a
// terminal, JSON for programs, JUnit for CI systems, Markdown for a pull request,
// and HTML as a page that shows every run. The other forms can be made from the
// JSON too; Merge joins the documents of shards.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
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
	pass, sent, fail, flaky, known, unrecorded, other, untried, na int
	follow                                                         int // of fail: after another check in the same run
	assertions                                                     int
	warns                                                          bool // a failure is a warning
	flakyFails                                                     bool // a flaky verdict fails the run
}

// Table writes a row for each check and a column for each subject: the cases that
// passed and the assertions that were made on them. A summary follows.
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
			cells[k] = &cell{flakyFails: d.Selection.FailOnFlaky}
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
	out.Printf("\n%s\n", Summary(d, st))
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
	c.assertions += r.Assertions
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
		if r.Follows != "" {
			c.follow++
		}
		c.warns = r.Severity == conformance.Should.String()
	case conformance.Flaky:
		if r.Known != nil {
			c.known++
			break
		}
		c.flaky++
		c.warns = r.Severity == conformance.Should.String()
	case conformance.Unrecorded:
		c.unrecorded++
	case conformance.NotTried:
		c.untried++
	default:
		c.other++
	}
}

func (c *cell) summary() string {
	switch {
	case c.fail > 0:
		word := "FAIL"
		if c.warns {
			word = "WARN"
		}
		text := fmt.Sprintf("%s %d of %d cases", word, c.fail, c.judgedCases())
		if c.follow > 0 {
			text += fmt.Sprintf(", %d follow", c.follow)
		}
		if c.flaky > 0 {
			text += fmt.Sprintf(", %d flaky", c.flaky)
		}
		return text
	case c.flaky > 0:
		word := "flaky"
		if c.fails() {
			word = "FLAKY"
		}
		return fmt.Sprintf("%s %d of %d cases", word, c.flaky, c.judgedCases())
	case c.known > 0:
		return fmt.Sprintf("known %2d of %d cases fail", c.known, c.judgedCases())
	case c.pass+c.sent == 0 && c.unrecorded > 0:
		return fmt.Sprintf("unrecorded in %d cases", c.unrecorded)
	case c.pass+c.sent == 0 && c.other > 0:
		return fmt.Sprintf("not expressible in %d cases", c.other)
	case c.pass+c.sent == 0 && c.untried > 0:
		return fmt.Sprintf("not tried in %d cases", c.untried)
	case c.unrecorded > 0:
		return fmt.Sprintf("pass  %3d cases, %d unrecorded", c.pass+c.sent, c.unrecorded)
	case c.other > 0:
		return fmt.Sprintf("pass  %3d cases, %d not expressible", c.pass+c.sent, c.other)
	case c.untried > 0:
		return fmt.Sprintf("pass  %3d cases, %d not tried", c.pass+c.sent, c.untried)
	case c.pass+c.sent == 0:
		return "not applicable"
	case c.sent > 0:
		return fmt.Sprintf("sent  %3d cases %7d assertions", c.sent+c.pass, c.assertions)
	}
	return fmt.Sprintf("pass  %3d cases %7d assertions", c.pass, c.assertions)
}

// judgedCases is on how many cases there was something to judge.
func (c *cell) judgedCases() int {
	return c.fail + c.flaky + c.known + c.pass + c.sent + c.other + c.unrecorded
}

// fails reports whether one of the results fails the run.
func (c *cell) fails() bool { return !c.warns && (c.fail > 0 || c.flaky > 0 && c.flakyFails) }

func (c *cell) paint(st Style, text string) string {
	switch {
	case c.fails():
		return st.Bad(text)
	case c.pass+c.sent == 0 || c.other+c.unrecorded+c.fail+c.flaky+c.known > 0:
		return st.Dim(text)
	}
	return st.Good(text)
}

// Summary returns the line below the table.
func Summary(d *Document, st Style) string {
	n, known := d.countVerdicts()
	head := fmt.Sprintf("%d cases and %d runs with a fault: %d verdicts", d.Cases, d.FaultRuns, len(d.Results))
	if d.FaultRuns > 0 && d.Selection.Seed > 0 {
		head = fmt.Sprintf("%d cases and %d runs with a fault (seed %d): %d verdicts", d.Cases, d.FaultRuns, d.Selection.Seed, len(d.Results))
	}
	if d.Interrupted {
		head = "interrupted: " + head
	}
	if d.Shard != nil {
		head = fmt.Sprintf("shard %v, %s", d.Shard, head)
	}
	parts := []string{head}
	for _, v := range verdicts {
		if n[v] > 0 {
			text := fmt.Sprintf("%d %s", n[v], v)
			if v.Bad() || v == conformance.Flaky && d.Selection.FailOnFlaky {
				text = st.Bad(text)
			}
			parts = append(parts, text)
		}
	}
	if n := d.countFollowers(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of the failures follow others", n))
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
	if why := d.unjudged(); why != "" {
		parts = append(parts, st.Bad("no check gave a verdict: "+why))
	}
	for _, id := range d.Missing {
		parts = append(parts, st.Bad("no case gave a verdict on "+id))
	}
	line := strings.Join(parts, ", ")
	if d.LeftOut.any() {
		line += "\n" + st.Bad("not all was tried") + fmt.Sprintf(": %d cases and %d runs with a fault were left out, because the time for the run was over", d.LeftOut.Cases, d.LeftOut.Faults)
		if run, rest, ok := strings.Cut(d.Selection.Command, " run"); ok {
			line += "; all: " + run + " run --full" + rest
		}
	}
	return line
}

// verdicts are in the order in which Summary counts them.
var verdicts = []conformance.Verdict{conformance.Pass, conformance.Sent, conformance.Fail, conformance.Flaky, conformance.NotApplicable,
	conformance.NotExpressible, conformance.NotTried, conformance.NotTestable, conformance.Unrecorded, conformance.HarnessError}

// countVerdicts counts the verdicts, and known failures separately.
func (d *Document) countVerdicts() (n map[conformance.Verdict]int, known int) {
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
