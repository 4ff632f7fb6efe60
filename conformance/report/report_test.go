package report_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fixtures"
)

var (
	once = &conformance.Check{ID: "text.once", Severity: conformance.Must, Sentence: "The text comes once."}
	stop = &conformance.Check{ID: "turn.stop", Severity: conformance.Should, Sentence: "A stopped turn ends."}
	gone = &conformance.Check{ID: "tool.known", Severity: conformance.Must}
)

func line(n int, dir fixtures.Dir, text string) conformance.PlayedLine {
	return conformance.PlayedLine{Line: fixtures.WireLine{Line: n, Dir: dir, Bytes: []byte(text)}, At: time.Duration(n) * time.Millisecond}
}

// example is a report with every kind of verdict that the table distinguishes.
func example() *report.Document { return report.New(sample(), report.About{}) }

func sample() *conformance.Report {
	run := &conformance.Run{
		Scenario: &fixtures.Scenario{ID: "text/plain", File: "fixtures/scenarios/text/plain.txtar", Intent: "The user asks,\nthe model answers."},
		Case:     &fixtures.Case{ID: "codex/1/text/plain", File: "fixtures/codex/1/text/plain.txtar"},
		Played: []conformance.PlayedLine{
			line(10, fixtures.In, `{"id":1}`), line(11, fixtures.Out, `{"id":1,"result":{}}`),
			line(12, fixtures.Out, `{"method":"delta"}`), line(13, fixtures.Exit, ""),
		},
		Events: []conformance.Event{{Event: event.Event{Seq: 4, Data: event.Delta{Text: "x"}}, Line: 3}},
		Steps:  []conformance.StepResult{{Step: fixtures.Step{Verb: fixtures.VerbSend, Line: 7}, Err: conformanceError("refused")}},
	}
	at := func(c *conformance.Check, id string, v conformance.Verdict, assertions int) conformance.Result {
		return conformance.Result{Check: c, Case: "codex/1/" + id, Subject: "mine", Tier: conformance.TierWitness, Verdict: v, Assertions: assertions}
	}
	failed := at(once, "text/plain", conformance.Fail, 2)
	failed.Trial = &conformance.Trial{Run: run}
	failed.Problems = []conformance.Problem{
		{Text: "the text came twice", Diff: "--- want\n+++ got\n-a\n+aa\n", Seq: 4},
		{Text: "and late", Line: 11},
	}
	unrecorded := at(stop, "stop/mid-text", conformance.Unrecorded, 1)
	unrecorded.Reason = "process 1: read (weather)"
	return &conformance.Report{
		Cases: 3, FaultRuns: 5, Missing: []*conformance.Check{gone},
		Results: []conformance.Result{
			failed, at(once, "text/long", conformance.Pass, 3), at(once, "tool/x", conformance.NotApplicable, 0),
			at(stop, "stop/mid-tool", conformance.Pass, 1), unrecorded,
			at(gone, "text/plain", conformance.NotApplicable, 0),
		},
	}
}

type conformanceError string

func (e conformanceError) Error() string { return string(e) }

// TestFailuresNameTheClock: only times of a virtual clock are exact.
func TestFailuresNameTheClock(t *testing.T) {
	for tier, want := range map[conformance.Tier]string{conformance.TierTiming: "wire (virtual time)", conformance.TierProcess: "wire (real time)"} {
		rep := sample()
		rep.Results[0].Tier = tier
		var b strings.Builder
		g := NewWithT(t)
		g.Expect(report.Failures(&b, report.New(rep, report.About{}), report.Style{})).To(Succeed())
		g.Expect(b.String()).To(ContainSubstring(want), string(tier))
	}
}

func TestTable(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	g.Expect(report.Table(&b, example(), report.Style{})).To(Succeed())
	g.Expect(b.String()).To(Equal(`check       mine
turn.stop   pass    1 cases, 1 not tried
text.once   FAIL 1 of 2 cases
tool.known  not applicable
`))
}

// TestTableWithoutVerdicts checks that an unrecorded case does not count as passed.
func TestTableWithoutVerdicts(t *testing.T) {
	for verdict, want := range map[conformance.Verdict]string{
		conformance.NotExpressible: "text.once  not declared in 2 cases\n",
		conformance.NotTried:       "text.once  not tried in 2 cases\n",
		conformance.Unrecorded:     "text.once  not tried in 2 cases\n",
		conformance.NotApplicable:  "text.once  not applicable\n",
	} {
		rep := sample()
		rep.Missing, rep.Results = nil, rep.Results[:2]
		for i := range rep.Results {
			rep.Results[i].Verdict, rep.Results[i].Problems = verdict, nil
		}
		var b strings.Builder
		g := NewWithT(t)
		g.Expect(report.Table(&b, report.New(rep, report.About{}), report.Style{})).To(Succeed())
		g.Expect(b.String()).To(ContainSubstring(want))
	}
}

func TestFailures(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	g.Expect(report.Failures(&b, example(), report.Style{})).To(Succeed())
	g.Expect(b.String()).To(Equal(`
FAIL codex/1/text/plain [witness] text.once  (mine)
  The text comes once.
  case: The user asks, the model answers.
  - the text came twice
    --- want
    +++ got
    -a
    +aa
    wire (virtual time), fixtures/codex/1/text/plain.txtar:12:
        10 in>      10ms {"id":1}
        11 out<     11ms {"id":1,"result":{}}
    >   12 out<     12ms {"method":"delta"}
        13          13ms exit
  - and late
    wire (virtual time), fixtures/codex/1/text/plain.txtar:11:
        10 in>      10ms {"id":1}
    >   11 out<     11ms {"id":1,"result":{}}
        12 out<     12ms {"method":"delta"}
  step failed: fixtures/scenarios/text/plain.txtar:7: send: refused
  rerun: turnspec run --case codex/1/text/plain --check text.once
UNRECORDED codex/1/stop/mid-text (mine): 1 checks gave no verdict: process 1: read (weather)
`))
}

func TestShouldIsAWarning(t *testing.T) {
	g := NewWithT(t)
	r := sample().Results[3]
	r.Verdict = conformance.Fail
	rep := report.New(&conformance.Report{Cases: 1, Results: []conformance.Result{r}}, report.About{})
	var b strings.Builder
	g.Expect(report.Failures(&b, rep, report.Style{})).To(Succeed())
	g.Expect(b.String()).To(HavePrefix("\nWARNING codex/1/stop/mid-tool [witness] turn.stop"))
	b.Reset()
	g.Expect(report.Table(&b, rep, report.Style{})).To(Succeed())
	g.Expect(b.String()).To(ContainSubstring("turn.stop  WARN 1 of 1 cases"))
}

func TestFailureIsBounded(t *testing.T) {
	g := NewWithT(t)
	r := sample().Results[0]
	r.Problems = nil
	for range 8 {
		r.Problems = append(r.Problems, conformance.Problem{Text: "again", Diff: strings.Repeat("+x\n", 30)})
	}
	var b strings.Builder
	g.Expect(report.Failure(&b, r, report.Style{})).To(Succeed())
	g.Expect(strings.Count(b.String(), "- again")).To(Equal(5))
	g.Expect(b.String()).To(ContainSubstring("… and 3 more"))
	g.Expect(b.String()).To(ContainSubstring("… 6 lines more"))
}

func TestColour(t *testing.T) {
	g := NewWithT(t)
	g.Expect(report.Style{}.Bad("x")).To(Equal("x"))
	g.Expect(report.Style{Color: true}.Bad("x")).To(Equal("\x1b[31;1mx\x1b[0m"))
}
