package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// maxProblems bounds what is printed of one failure; the count tells the rest.
const maxProblems = 5

// Failures writes every failed result: the rule, the case's intent, what is
// wrong, the wire around it with its time, and how to run just that again.
func Failures(w io.Writer, rep *conformance.Report, st Style) error {
	for _, r := range rep.Results {
		if !r.Verdict.Bad() {
			continue
		}
		if err := Failure(w, r, st); err != nil {
			return err
		}
	}
	return unjudged(w, rep, st)
}

// unjudged writes why something has no verdict, once for each case and reason.
func unjudged(w io.Writer, rep *conformance.Report, st Style) error {
	type why struct {
		verdict               conformance.Verdict
		subject, name, reason string
	}
	n := map[why]int{}
	var order []why
	for _, r := range rep.Results {
		if r.Verdict == conformance.Unrecorded || r.Verdict == conformance.NotExpressible {
			k := why{r.Verdict, r.Subject, r.Case, r.Reason}
			if n[k]++; n[k] == 1 {
				order = append(order, k)
			}
		}
	}
	for _, k := range order {
		if _, err := fmt.Fprintf(w, "%s %s (%s): %d checks give no verdict: %s\n",
			st.Dim(strings.ToUpper(string(k.verdict))), k.name, k.subject, n[k], k.reason); err != nil {
			return err
		}
	}
	return nil
}

// Failure writes one failed result.
func Failure(w io.Writer, r conformance.Result, st Style) error {
	var b strings.Builder
	label := st.Bad(strings.ToUpper(string(r.Verdict)))
	if r.Check.Severity == conformance.Should {
		label = st.Dim("WARNING")
	}
	fmt.Fprintf(&b, "\n%s %s [%s] %s  (%s)\n", label, r.Case, r.Tier, r.Check.ID, r.Subject)
	fmt.Fprintf(&b, "  %s\n", r.Check.Sentence)
	if r.Trial != nil && r.Trial.Scenario != nil {
		fmt.Fprintf(&b, "  %s\n", st.Dim("case: "+strings.Join(strings.Fields(r.Trial.Scenario.Intent), " ")))
	}
	for i, p := range r.Problems {
		if i == maxProblems {
			fmt.Fprintf(&b, "  … and %d more\n", len(r.Problems)-i)
			break
		}
		fmt.Fprintf(&b, "  - %s\n", indent(p.Text, "    "))
		if p.Diff != "" {
			fmt.Fprintf(&b, "    %s\n", indent(clipLines(strings.TrimRight(p.Diff, "\n"), 24), "    "))
		}
		writeWire(&b, r, p, st)
	}
	if r.Trial != nil && r.Trial.Hang != "" {
		fmt.Fprintf(&b, "  the run hung: %s\n", indent(clipLines(r.Trial.Hang, 6), "    "))
	}
	for _, a := range actErrors(r) {
		fmt.Fprintf(&b, "  act failed: %s\n", a)
	}
	tier := ""
	if r.Tier == conformance.TierLive {
		tier = " --tier live" // the only tier that does not run unless it is named
	}
	fmt.Fprintf(&b, "  rerun: turnspec run%s --case %s --check %s\n", tier, r.Case, r.Check.ID)
	_, err := io.WriteString(w, b.String())
	return err
}

func actErrors(r conformance.Result) []string {
	var out []string
	if r.Trial == nil {
		return nil
	}
	for _, a := range r.Trial.Acts {
		if a.Err != nil {
			out = append(out, fmt.Sprintf("%s:%d: %s: %v", r.Trial.Scenario.File, a.Act.Line, a.Act.Verb, a.Err))
		}
	}
	return out
}

// writeWire shows the lines that were played around a problem.
func writeWire(b *strings.Builder, r conformance.Result, p conformance.Problem, st Style) {
	t := r.Trial
	if t == nil || len(t.Played) == 0 {
		return
	}
	at := -1
	switch {
	case p.Seq > 0:
		for _, e := range t.Events {
			if e.Seq == p.Seq {
				at = e.Line - 1
			}
		}
	case p.Line > 0:
		for i, x := range t.Played {
			if x.Line.Line == p.Line {
				at = i
			}
		}
	}
	if at < 0 {
		return
	}
	fmt.Fprintf(b, "    wire (virtual time), %s:\n", t.Case.File)
	for i := max(0, at-2); i <= min(at+1, len(t.Played)-1); i++ {
		x := t.Played[i]
		mark := " "
		if i == at {
			mark = ">"
		}
		fmt.Fprintf(b, "    %s%5d %s %8s %s\n", mark, x.Line.Line, arrow(x.Line.Dir), x.At, st.Dim(clip(text(x.Line), 140)))
	}
}

func arrow(d fixtures.Dir) string {
	switch d {
	case fixtures.In:
		return "in> "
	case fixtures.Out:
		return "out<"
	case fixtures.Err:
		return "err<"
	}
	return "    "
}

func text(l fixtures.WireLine) string {
	switch l.Dir {
	case fixtures.In, fixtures.Out, fixtures.Err:
		return string(l.Bytes)
	}
	return string(l.Dir)
}

func indent(s, by string) string { return strings.ReplaceAll(s, "\n", "\n"+by) }

func clipLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = clip(l, 200)
	}
	if len(lines) > n {
		lines = append(lines[:n], fmt.Sprintf("… %d lines more", len(lines)-n))
	}
	return strings.Join(lines, "\n")
}
