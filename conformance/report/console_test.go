package report_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

func console(t *testing.T, d *report.Document) string {
	t.Helper()
	return written(t, func(w io.Writer, d *report.Document) error { return report.Console(w, d, report.Style{}) }, d)
}

// TestSummaryCountsChecks checks the word of each verdict, and that a check has the most
// important word of its cases.
func TestSummaryCountsChecks(t *testing.T) {
	g := gomega.NewWithT(t)
	check := func(id string, severity conformance.Severity, verdicts ...conformance.Verdict) (out []conformance.Result) {
		c := &conformance.Check{ID: id, Severity: severity}
		for i, v := range verdicts {
			out = append(out, conformance.Result{Check: c, Case: fmt.Sprintf("codex/1/text/%d", i), Verdict: v})
		}
		return out
	}
	rep := &conformance.Report{Cases: 2}
	for i, verdicts := range [][]conformance.Verdict{
		{conformance.Pass, conformance.NotApplicable}, {conformance.Sent, conformance.NotTried}, // pass
		{conformance.Pass, conformance.Fail}, {conformance.HarnessError}, {conformance.NotTestable}, // fail
		{conformance.Flaky, conformance.Pass},
		{conformance.NotApplicable},
		{conformance.NotExpressible, conformance.NotApplicable},
		{conformance.NotTried, conformance.NotExpressible}, {conformance.Unrecorded},
	} {
		rep.Results = append(rep.Results, check(fmt.Sprintf("a.%d", i), conformance.Must, verdicts...)...)
	}
	rep.Results = append(rep.Results, check("a.should", conformance.Should, conformance.Fail)...)
	g.Expect(report.Summary(report.New(rep, report.About{}), report.Style{})).To(gomega.Equal(
		"2 cases and 0 runs with a fault: 11 checks, 2 pass, 4 fail (1 as a warning), 1 flaky, 1 not applicable, 1 not declared, 2 not tried"))
}

// failures returns a report of failures of checks, each on so many cases, on a wire that
// grows from case to case.
func failures(counts map[string]int, order ...string) *conformance.Report {
	rep := &conformance.Report{Cases: 9}
	for _, id := range order {
		c := &conformance.Check{ID: id, Sentence: "It holds."}
		if strings.HasPrefix(id, "warns.") {
			c.Severity = conformance.Should
		}
		for i := range counts[id] {
			name := fmt.Sprintf("codex/1/text/case-%d", 9-i)
			run := &conformance.Run{Scenario: &fixtures.Scenario{}, Case: &fixtures.Case{ID: name}, Played: []conformance.PlayedLine{
				line(10, fixtures.Out, strings.Repeat("x", i)),
			}}
			rep.Results = append(rep.Results, conformance.Result{Check: c, Case: name, Subject: "mine", Tier: conformance.TierProcess,
				Verdict: conformance.Fail, Assertions: 1, Trial: &conformance.Trial{Run: run},
				Problems: []conformance.Problem{{Text: "it is wrong", Diff: conformance.Diff("want", "a\nriver ", "got", "a\nlake")}}})
		}
	}
	return rep
}

// TestConsoleGroupsFailures checks that a check is shown once, with its simplest failure,
// and that what fails the run in most cases comes first.
func TestConsoleGroupsFailures(t *testing.T) {
	g := gomega.NewWithT(t)
	d := report.New(failures(map[string]int{"a.few": 2, "warns.many": 7, "b.many": 3}, "a.few", "warns.many", "b.many"), report.About{})
	group := func(label string, n int) string {
		return fmt.Sprintf(`
%s: %d of %d cases
  It holds.
  case     codex/1/text/case-9
  problem  it is wrong
  expected "river "
  got      lake
  rerun    turnspec run --case codex/1/text/case-9 --check %s
`, label, n, n, strings.Fields(label)[1])
	}
	g.Expect(console(t, d)).To(gomega.Equal(group("FAIL b.many", 3) + group("FAIL a.few", 2) + group("WARNING warns.many", 7) + `
turnspec explain b.many    shows what the check demands, and how an adapter is mended
the rerun command          shows a failure in full, with the wire around it
--report html=report.html  shows all failures, with wire, events and chat
--verbose                  shows all failures as text
--table                    shows each check

9 cases and 0 runs with a fault: 3 checks, 3 fail (1 as a warning)
`))
}

// TestConsoleFitsOnAScreen checks that many failures are named, and not shown.
func TestConsoleFitsOnAScreen(t *testing.T) {
	g := gomega.NewWithT(t)
	counts := map[string]int{}
	var order []string
	for i := range 30 {
		id := fmt.Sprintf("topic-%d.of-a-check", i)
		counts[id], order = 2, append(order, id)
	}
	text := console(t, report.New(failures(counts, order...), report.About{}))
	g.Expect(strings.Count(text, "\n")).To(gomega.BeNumerically("<=", 40), text)
	g.Expect(text).To(gomega.ContainSubstring("\n27 other checks failed: topic-3.of-a-check (2 cases), "))
	for line := range strings.Lines(text) {
		g.Expect(len([]rune(line))).To(gomega.BeNumerically("<=", 101), line)
	}
}

// TestConsoleNamesWhatFollows checks that a check which fails only after another has no
// group.
func TestConsoleNamesWhatFollows(t *testing.T) {
	g := gomega.NewWithT(t)
	rep := failures(map[string]int{"a.late": 2, "b.first": 2}, "a.late", "b.first")
	for i := range rep.Results {
		if rep.Results[i].Check.ID == "b.first" {
			rep.Results[i].Problems[0].Line = 10
		}
		rep.Results[i].Trial = rep.Results[i%2].Trial // of one run
	}
	text := console(t, report.New(rep, report.About{}))
	g.Expect(text).To(gomega.ContainSubstring("\n1 check failed only after one of these, in the same run: a.late (2 cases)\n"))
	g.Expect(text).NotTo(gomega.ContainSubstring("FAIL a.late"))
}

// TestConsoleShowsOneFailureInFull checks that the output of a rerun has the wire.
func TestConsoleShowsOneFailureInFull(t *testing.T) {
	g := gomega.NewWithT(t)
	text := console(t, example())
	g.Expect(text).To(gomega.HavePrefix("\nFAIL codex/1/text/plain [witness] text.once  (mine)\n  The text comes once.\n"))
	g.Expect(text).To(gomega.ContainSubstring("    >   12 out<     12ms {\"method\":\"delta\"}\n"))
	g.Expect(text).NotTo(gomega.ContainSubstring("the rerun command"))
}

// TestConsoleNamesTheFault checks that a failure under a fault names it, and that its rerun
// command tries only this fault.
func TestConsoleNamesTheFault(t *testing.T) {
	g := gomega.NewWithT(t)
	rep := failures(map[string]int{"a.faulted": 2}, "a.faulted")
	f := &fault.Fault{Operator: "kill", Kind: fault.Terminal, Line: 23}
	for i := range rep.Results {
		rep.Results[i].Problems = []conformance.Problem{{Text: f.String() + ": the turn did not end", Fault: f}, {Text: "cut-line at line 9: it did not end", Fault: &fault.Fault{Operator: "cut-line", Line: 9}}}
	}
	g.Expect(console(t, report.New(rep, report.About{}))).To(gomega.MatchRegexp(`  fault    kill@23: The process .*\n  problem  the turn did not end\n  rerun .* --check a.faulted --fault kill@23\n`))
}

// TestConsoleNamesTheDeclaration checks that a failure names the declaration that settles
// it, and only if the subject emits nothing of what it would leave out.
func TestConsoleNamesTheDeclaration(t *testing.T) {
	c := &conformance.Check{ID: "usage.reported", Sentence: "It holds.", Needs: []string{"usage"}, Judge: func(t *conformance.Trial, f *conformance.Finding) {
		f.Asserted(1)
		for _, e := range t.Events {
			if u, is := e.Data.(event.Usage); is && (u.Tokens.Cached > 0 || !t.Supports("usage.tokens.cached")) {
				return
			}
		}
		f.Failf("the usage is not reported")
	}}
	for _, x := range []struct {
		events []event.Data
		want   string
	}{
		{nil, "usage"},
		{[]event.Data{event.Delta{Text: "x"}}, "usage"},
		{[]event.Data{event.Usage{Tokens: event.Tokens{Input: 1}}}, "usage.tokens.cached"},
	} {
		g := gomega.NewWithT(t)
		rep := &conformance.Report{}
		for i := range 2 {
			run := &conformance.Run{Scenario: &fixtures.Scenario{}, Case: &fixtures.Case{ID: fmt.Sprintf("codex/1/text/%d", i)}}
			for _, data := range x.events {
				run.Events = append(run.Events, conformance.Event{Event: event.Event{Data: data}})
			}
			rep.Results = append(rep.Results, conformance.Result{Check: c, Case: run.Case.ID, Subject: "mine", Verdict: conformance.Fail,
				Problems: []conformance.Problem{{Text: "the usage is not reported"}}, Trial: &conformance.Trial{Run: run}})
		}
		declare := func(subject, what string) string { return subject + ": without " + what }
		g.Expect(console(t, report.New(rep, report.About{Declare: declare}))).To(gomega.ContainSubstring(
			"\n  or       declare that the adapter leaves it out: mine: without " + x.want + "\n"))
		g.Expect(console(t, report.New(rep, report.About{}))).NotTo(gomega.ContainSubstring("leaves it out"))
	}

	// What is there and wrong is settled by nothing.
	wrong := failures(map[string]int{"a.wrong": 2}, "a.wrong")
	for i := range wrong.Results {
		r := &wrong.Results[i]
		r.Check.Needs = []string{"delta"}
		r.Check.Judge = func(_ *conformance.Trial, f *conformance.Finding) { f.Asserted(1); f.Failf("it is wrong") }
		r.Trial.Events = []conformance.Event{{Event: event.Event{Data: event.Delta{Text: "x"}}}}
	}
	text := console(t, report.New(wrong, report.About{Declare: func(_, what string) string { return what }}))
	gomega.NewWithT(t).Expect(text).NotTo(gomega.ContainSubstring("leaves it out"))
}

// TestConsoleWrapsTheCounts checks that a summary wider than the screen is broken between two
// counts, and that a command in it stays whole.
func TestConsoleWrapsTheCounts(t *testing.T) {
	g := gomega.NewWithT(t)
	count := "12 cases: " + strings.Repeat("100 not applicable, ", 6) + "1 pass"
	command := "all: turnspec run " + strings.Repeat("x", 200)
	lines := strings.Split(report.WrapCounts(count+"\n"+command), "\n")
	g.Expect(lines).To(gomega.HaveLen(3))
	g.Expect(len(lines[0])).To(gomega.BeNumerically("<=", 100))
	g.Expect(lines[0]).To(gomega.HaveSuffix("not applicable,"))
	g.Expect(lines[1]).To(gomega.HavePrefix("  100 not applicable, "))
	g.Expect(lines[2]).To(gomega.Equal(command))
	g.Expect(report.WrapCounts("1 cases: 1 check, 1 pass")).To(gomega.Equal("1 cases: 1 check, 1 pass"))
}

// TestConsoleNamesTheHTMLReport checks that a run that wrote a report gets no hint to write one.
func TestConsoleNamesTheHTMLReport(t *testing.T) {
	g := gomega.NewWithT(t)
	d := report.New(sample(), report.About{})
	g.Expect(console(t, d)).To(gomega.ContainSubstring("--report html=report.html"))
	d.SetHTMLFile("out/r.html")
	g.Expect(console(t, d)).To(gomega.And(gomega.ContainSubstring("out/r.html "), gomega.Not(gomega.ContainSubstring("--report html"))))
}
