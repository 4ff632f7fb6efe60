package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// MaxProblems bounds the problems that are shown of a failure.
const MaxProblems = 5

// Failures writes every failed verdict: the check's sentence, the case's intent, the
// problems, the wire around each one, and the command that reruns it. Checks that failed
// later in the same run are listed below, a line each. Then it writes
// the known failures, the stale ones, and why there is no verdict on something.
func Failures(w io.Writer, d *Document, st Style) error {
	var b strings.Builder
	find, followers := d.newPlayFinder(), d.followers()
	for _, e := range d.Results {
		if e.BadOnce() && e.Known == nil {
			writeGroup(&b, d, e, find, followers, st)
		}
	}
	writeKnown(&b, d, len(d.Known), st)
	writeUnjudged(&b, d, st)
	writeSlowest(&b, d, st)
	_, err := io.WriteString(w, b.String())
	return err
}

// Failure writes one failed result.
func Failure(w io.Writer, r conformance.Result, st Style) error {
	d := New(&conformance.Report{Results: []conformance.Result{r}}, About{})
	var b strings.Builder
	writeFailure(&b, d, d.Results[0], d.newPlayFinder(), st)
	_, err := io.WriteString(w, b.String())
	return err
}

// CaseFailures returns the failures of a case that fail the suite, as text, or "".
// rerun is the command that runs the case again; "": `turnspec run` can.
func CaseFailures(cfg conformance.Config, results []conformance.Result, rerun string) string {
	failed := slices.DeleteFunc(slices.Clone(results), func(r conformance.Result) bool { return !r.Fails(cfg.FailOnFlaky) })
	if len(failed) == 0 {
		return ""
	}
	var b strings.Builder
	d := New(&conformance.Report{Results: failed, FailOnFlaky: cfg.FailOnFlaky}, About{})
	d.rerun = rerun
	find, followers := d.newPlayFinder(), d.followers()
	for _, e := range d.Results {
		writeGroup(&b, d, e, find, followers, Style{})
	}
	return b.String()
}

// writeGroup writes a failure and the checks that follow it. It writes nothing for a
// failure that follows another.
func writeGroup(b *strings.Builder, d *Document, e Entry, find playFinder, followers func(Entry) []Entry, st Style) {
	if e.Follows == "" {
		writeFailure(b, d, e, find, st)
		writeFollowers(b, d, followers(e))
	}
}

func countChecks(n int) string {
	if n == 1 {
		return "1 check"
	}
	return fmt.Sprintf("%d checks", n)
}

// maxFollowers bounds the checks that are listed below the failure that they follow.
const maxFollowers = 12

// writeFollowers lists the checks that failed later in the run of a failure.
func writeFollowers(b *strings.Builder, d *Document, all []Entry) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "  follows: %s failed later in the same run (--check NAME shows one alone)\n", countChecks(len(all)))
	for i, e := range all {
		if i == maxFollowers {
			fmt.Fprintf(b, "    … and %d more\n", len(all)-i)
			return
		}
		verdict := ""
		switch {
		case e.Flaky():
			verdict = " (flaky)"
		case !d.Fails(e):
			verdict = " (warning)"
		}
		text, _, _ := strings.Cut(e.Problems[0].Text, "\n")
		fmt.Fprintf(b, "    %s%s: %s\n", e.Check, verdict, clipLine(text, 120))
	}
}

// writeKnown writes the known failures that occurred, and the stale ones, at most so many.
func writeKnown(b *strings.Builder, d *Document, most int, st Style) {
	begin, used := "\n", 0
	for _, u := range slices.SortedStableFunc(slices.Values(d.Known), staleFirst) {
		if u.Stale == "" && u.Failed == 0 {
			continue
		}
		if used++; used > most {
			continue
		}
		at := u.Check + " " + u.Case
		if u.Subject != "" {
			at += " (" + u.Subject + ")"
		}
		link := ""
		if u.Link != "" {
			link = " " + u.Link
		}
		switch {
		case u.Stale != "":
			fmt.Fprintf(b, "%s%s %s: %s: %s; remove it\n", begin, st.Bad("STALE"), u.location(), at, u.Stale)
		default:
			fmt.Fprintf(b, "%s%s %s: %s: %s%s\n", begin, st.Dim("KNOWN"), at, u.countFailures(), u.Reason, st.Dim(link))
		}
		begin = ""
	}
	if used > most {
		fmt.Fprintf(b, "and %d more known failures\n", used-most)
	}
}

func staleFirst(a, b KnownUse) int {
	switch {
	case (a.Stale == "") == (b.Stale == ""):
		return 0
	case a.Stale != "":
		return -1
	}
	return 1
}

// countFailures counts the failures that an entry names. If some are flaky and the entry
// does not allow that, it will be stale in a run in which none fails.
func (u KnownUse) countFailures() string {
	text := "1 failure"
	if u.Failed != 1 {
		text = fmt.Sprintf("%d failures", u.Failed)
	}
	if u.Flaky > 0 {
		text += fmt.Sprintf(", %d of them flaky", u.Flaky)
	}
	if u.Flaky > 0 && !u.MayPass {
		text += " (add the line `flaky: yes`, or the entry will be stale when it passes)"
	}
	return text
}

func (u KnownUse) location() string {
	if u.At == "" {
		return "known failure"
	}
	return u.At
}

// writeUnjudged writes each reason for which there is no verdict once. That a fault is tried on
// other cases of the run is the usual case: the table counts these.
func writeUnjudged(b *strings.Builder, d *Document, st Style) {
	type why struct{ verdict, subject, reason string }
	checks := map[why]int{}
	cases := map[why][]string{}
	var order []why
	for _, e := range d.Results {
		if e.Reason == conformance.TriedElsewhere {
			continue
		}
		if v := conformance.Verdict(e.Verdict); v == conformance.Unrecorded || v == conformance.NotExpressible || v == conformance.NotTried {
			k := why{e.Verdict, e.Subject, e.Reason}
			if checks[k]++; checks[k] == 1 {
				order = append(order, k)
			}
			if all := cases[k]; len(all) == 0 || all[len(all)-1] != e.Case { // results are sorted by case
				cases[k] = append(all, e.Case)
			}
		}
	}
	for _, k := range order {
		name := cases[k][0]
		if n := len(cases[k]); n > 1 {
			name = fmt.Sprintf("%s and %d more", name, n-1)
		}
		fmt.Fprintf(b, "%s %s (%s): %d checks gave no verdict: %s\n",
			st.Dim(strings.ToUpper(k.verdict)), name, k.subject, checks[k], k.reason)
	}
}

func writeFailure(b *strings.Builder, d *Document, e Entry, find playFinder, st Style) {
	label := st.Bad(strings.ToUpper(e.Verdict))
	switch {
	case e.Severity == conformance.Should.String():
		label = st.Dim("WARNING")
	case e.Flaky() && !d.Fails(e):
		label = st.Dim("FLAKY")
	}
	fmt.Fprintf(b, "\n%s %s [%s] %s  (%s)\n", label, e.Case, e.Tier, e.Check, e.Subject)
	fmt.Fprintf(b, "  %s\n", d.findRule(e.Check).Sentence)
	plain := find(e, nil)
	if plain != nil && plain.Intent != "" {
		fmt.Fprintf(b, "  %s\n", st.Dim("case: "+plain.Intent))
	}
	if e.Reason != "" {
		fmt.Fprintf(b, "  %s\n", indentLines(clipLines(e.Reason, 6)))
	}
	for i, p := range e.Problems {
		if i == MaxProblems {
			fmt.Fprintf(b, "  … and %d more\n", len(e.Problems)-i)
			break
		}
		fmt.Fprintf(b, "  - %s\n", indentLines(p.Text))
		if p.Diff != "" {
			fmt.Fprintf(b, "    %s\n", indentLines(clipLines(strings.TrimRight(p.Diff, "\n"), 24)))
		}
		writeWire(b, find(e, p.Fault), p, clockName(e), st)
	}
	if plain != nil {
		writeEnd(b, plain, e.Problems)
	}
	writePrograms(b, e, plain, find)
	fmt.Fprintf(b, "  rerun: %s\n", d.Rerun(e))
	if e.Declare != "" {
		fmt.Fprintf(b, "  or declare that the adapter leaves it out: %s\n", e.Declare)
	}
}

// writeEnd writes why a run did not end, and its failed steps, unless a problem says so.
func writeEnd(b *strings.Builder, p *Play, problems []Problem) {
	var texts []string
	for _, x := range problems[:min(len(problems), MaxProblems)] {
		texts = append(texts, x.Text)
	}
	written := strings.Join(texts, "\n")
	if p.Hang != "" && !strings.Contains(written, p.Hang) {
		fmt.Fprintf(b, "  the run hung: %s\n", indentLines(clipLines(p.Hang, 6)))
		written += "\n" + p.Hang
	}
	for _, a := range p.Steps {
		if cause, _, _ := strings.Cut(a.Error, "\n"); cause != "" && !strings.Contains(written, cause) {
			fmt.Fprintf(b, "  step failed: %s:%d: %s: %s\n", p.Scenario, a.Line, a.Verb, indentLines(a.Error))
		}
	}
}

// writePrograms writes the stderr and the exit of the subject's programs: those of the
// first run with a fault that shows a problem, or of the run without one.
func writePrograms(b *strings.Builder, e Entry, plain *Play, find playFinder) {
	play := plain
	for _, p := range e.Problems {
		if p.Fault != nil {
			if faulted := find(e, p.Fault); faulted != nil {
				play = faulted
			}
			break
		}
	}
	if play == nil {
		return
	}
	for _, p := range play.Programs {
		if p.Exit != "" && p.Exit != "exit code 0" {
			fmt.Fprintf(b, "  the subject's program ended: %s\n", p.Exit)
		}
		if p.Stderr != "" && !strings.Contains(play.Hang, "stderr: ") {
			fmt.Fprintf(b, "  its stderr: %s\n", strings.ReplaceAll(p.Stderr, "\n", "\n              "))
		}
	}
}

// Rerun returns the command that runs only this check on this case, or the case if
// it is a Go test.
func (d *Document) Rerun(e Entry) string {
	if d.rerun != "" {
		return d.rerun
	}
	command := cmp.Or(d.Selection.Command, "turnspec run")
	flags, program, acp := strings.Cut(command, " -- ") // the command of an ACP agent or a sidecar follows
	if e.Tier == string(conformance.TierLive) {
		flags += " --tier live" // the only tier that runs only if it is named
	}
	command = fmt.Sprintf("%s --case %s --check %s", flags, cmp.Or(d.Selection.CaseFile, e.Case), e.Check)
	if f := commonFault(e.Problems); f != nil {
		at := conformance.FaultAt{Name: f.Operator, Line: f.Line}.String()
		if strings.Contains(at, "(") {
			at = "'" + at + "'" // for the shell
		}
		command += " --fault " + at
	}
	if acp {
		command += " -- " + program
	}
	return command
}

// commonFault returns the fault in which all problems show, or nil.
func commonFault(problems []Problem) *Fault {
	for _, p := range problems {
		if p.Fault == nil || *p.Fault != *problems[0].Fault {
			return nil
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return problems[0].Fault
}

// playFinder finds the play of a verdict with a fault, or without one; nil: there is none.
type playFinder func(Entry, *Fault) *Play

func (d *Document) newPlayFinder() playFinder {
	byKey := make(map[playKey]*Play, len(d.Plays))
	for i := range d.Plays {
		byKey[d.Plays[i].playKey()] = &d.Plays[i]
	}
	return func(e Entry, f *Fault) *Play {
		p := Play{Case: e.Case, Subject: e.Subject, Live: e.Tier == string(conformance.TierLive), Fault: f}
		return byKey[p.playKey()]
	}
}

// Places returns a function that finds the file of a verdict's case, and the line of
// its first problem; 0 if none has a line.
func (d *Document) Places() func(Entry) (file string, line int) {
	find := d.newPlayFinder()
	return func(e Entry) (string, int) {
		plain := find(e, nil)
		if plain == nil {
			return "", 0
		}
		for _, x := range e.Problems {
			if p := find(e, x.Fault); p != nil {
				if at := p.wireIndex(x); at >= 0 && at < len(p.Wire) {
					return plain.File, p.Wire[at].Line
				}
			}
		}
		return plain.File, 0
	}
}

// indentLines indents all lines but the first.
func indentLines(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") }

func clipLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = clipLine(l, 200)
	}
	if len(lines) > n {
		lines = append(lines[:n], fmt.Sprintf("… %d lines more", len(lines)-n))
	}
	return strings.Join(lines, "\n")
}
