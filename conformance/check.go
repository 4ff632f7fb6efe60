package conformance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// Severity determines whether a failed check fails the suite. The zero value is Must.
type Severity string

// A failed Must fails the suite, a failed Should is a warning.
const (
	Must   Severity = ""
	Should Severity = "SHOULD"
)

// String returns MUST or SHOULD.
func (s Severity) String() string {
	if s == Must {
		return "MUST"
	}
	return string(s)
}

// Verdict is the outcome of a check on a case.
type Verdict string

// The verdicts. The package comment explains them.
const (
	Pass           Verdict = "pass"
	Sent           Verdict = "sent"
	Fail           Verdict = "fail"
	Flaky          Verdict = "flaky"
	NotApplicable  Verdict = "not applicable"
	NotExpressible Verdict = "not expressible"
	NotTried       Verdict = "not tried"
	NotTestable    Verdict = "not testable"
	Unrecorded     Verdict = "unrecorded"
	HarnessError   Verdict = "harness error"
)

// Bad reports whether the verdict fails the suite if the check is a MUST.
func (v Verdict) Bad() bool { return v == Fail || v == NotTestable || v == HarnessError }

// BadOnce reports whether the verdict is bad, or was in the first of two tries.
func (v Verdict) BadOnce() bool { return v.Bad() || v == Flaky }

// Check is a rule with a name.
type Check struct {
	ID string
	// Aliases are ids that also select the check, in --check and in files of known
	// failures: its former ids, and ids of rules that this check covers.
	Aliases  []string
	Sentence string
	Mend     string // how an adapter that fails it is mended, in one to three sentences
	Severity Severity
	Source   string
	Tiers    []Tier
	// Faults are the faults that are tried for the check, by the name of their operator;
	// nil: it judges the plain run only.
	Faults []string
	// FaultShows reports whether the faults of the check can show anything in a case; nil:
	// in each. In real time the check's faults are tried on some of these cases too.
	FaultShows func(c *fixtures.Case) bool
	// AlternateSteps returns steps to run in place of the scenario's, such as another
	// end than the recorded one; nil: none for this scenario. The result is
	// Trial.Alternate.
	AlternateSteps func(s *fixtures.Scenario) []fixtures.Step
	// JudgesWritten is set if the check judges what the subject wrote to the runtime.
	// It then gives a verdict even if the subject did something that the case does not
	// hold.
	JudgesWritten bool
	// JudgesDeclared is set if the check judges the subject's declarations. A step that
	// the subject declared and does not support is then a failure, and not inexpressible.
	JudgesDeclared bool
	// Judges are the facts that the check judges: types of events, such as plan, and
	// fields, such as tool_result.exit_code. If one of them is wrong in the events of the
	// reference, the check fails in some case; the tests of package facts prove that.
	Judges []string
	// Needs are the event types and members that the check judges by. It is not
	// expressible if the subject does not support one of them: see EventSupporter.
	Needs []string
	// NeedsFor returns further needs that depend on the run; nil: none.
	NeedsFor func(r *Run) []string
	// NeedsLines is set if the check needs the line that caused each event, which is not
	// available in real time.
	NeedsLines bool
	// ServersOnly is set if the check judges what only a server can get wrong.
	ServersOnly bool
	// ProgramsOnly is set if the check judges what only a program can get wrong.
	ProgramsOnly bool
	// WithoutWaiting is set if the check judges the waiting faults, such as a runtime
	// that writes nothing more, by what the subject does when it is closed. Other
	// checks judge that only if the subject takes limits that make it give up soon.
	WithoutWaiting bool
	// JudgesTranscript is set if the check also judges the events that a subject derives
	// from the lines of a case that no client can perform. Other checks are not
	// expressible there.
	JudgesTranscript bool
	// Observer makes something of the events of each run while they arrive, for Judge and
	// JudgeFault; nil: Run.Events suffices. Checks with the same observer share the result.
	Observer *Observer
	// Judge judges the plain run and the one with alternate steps; nil: only runs with
	// a fault are judged.
	Judge func(t *Trial, f *Finding)
	// JudgeFault judges one run with a fault, together with the plain run. Its problems
	// need not name the fault.
	JudgeFault func(plain, faulted *Run, f *Finding)
}

// HasID reports whether id is the check's id or one of its aliases.
func (c *Check) HasID(id string) bool { return c.ID == id || slices.Contains(c.Aliases, id) }

// An Observer makes something of the events of a run while they arrive, as a client does
// that shows them at once. Run.Events holds the same events, but a subject may change the
// data of an event after it emitted it. Observers run in virtual time only.
type Observer struct {
	// Observe returns the observation of one run, which has not begun.
	Observe func() Observation
}

// An Observation receives the events of one run.
type Observation interface {
	// Add is called with each event when it arrives, by one goroutine at a time.
	Add(e event.Event)
	// Result returns what Run.Observed holds for the observer. It is called once, after the
	// run. An error means that the harness failed, not the subject.
	Result() (any, error)
}

// Trial holds the runs that a check judged.
type Trial struct {
	*Run
	Faulted   []*Run // some of those with a fault in which the check found a problem
	Alternate *Run   // with Check.AlternateSteps; nil: there were none
}

// Problem is an assertion that did not hold.
type Problem struct {
	Text  string
	Diff  string       // of want and got, or ""
	Seq   int64        // the event at which it shows; 0: none
	Line  int          // the line of the case's wire; 0: none
	Fault *fault.Fault // of the run in which it shows; nil: the plain run

	Want, Got string // of Diff
	Missing   bool   // an expected event or line is missing
	Hung      bool   // the run did not end: other failures of it may follow from that
}

// Finding collects the assertions and problems of a check.
type Finding struct {
	Assertions int
	Sent       bool // only what the subject wrote to the runtime was judged
	Problems   []Problem
	Defect     string // the defect of the suite because of which the check could not judge, or ""
}

// Asserted adds n to the assertions.
func (f *Finding) Asserted(n int) { f.Assertions += n }

// Failf adds a problem.
func (f *Finding) Failf(format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Text: fmt.Sprintf(format, args...)})
}

// Missingf adds a problem about a missing event or line. It does not count in a run
// in which the subject did something that the case does not hold.
func (f *Finding) Missingf(format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Text: fmt.Sprintf(format, args...), Missing: true})
}

// Hungf adds the problem that the run did not end. Other failures of the run may follow
// from it.
func (f *Finding) Hungf(format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Text: fmt.Sprintf(format, args...), Hung: true})
}

// At adds a problem at an event.
func (f *Finding) At(e Event, format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Text: fmt.Sprintf(format, args...), Seq: e.Seq, Line: e.Line})
}

// Diff adds a problem with the wanted and the actual text.
func (f *Finding) Diff(text, want, got string) {
	f.Problems = append(f.Problems, Problem{Text: text, Diff: Diff("want", want, "got", got), Want: want, Got: got})
}

// Result is the verdict of a check on a case.
type Result struct {
	Check        *Check
	Case         string
	Subject      string
	Tier         Tier
	Verdict      Verdict
	Assertions   int
	Reason       string        // for verdicts that are neither pass nor fail
	Problems     []Problem     // of a flaky check: those of the first try
	KnownFailure *KnownFailure // names the failure; nil: none does
	Trial        *Trial        // nil if it did not fail, unless Config.KeepRuns is set
}

// Judged reports whether the verdict is about the subject: pass, sent, fail or flaky.
func (v Verdict) Judged() bool { return v == Pass || v == Sent || v == Fail || v == Flaky }

// Fails reports whether the result fails a run. A flaky one does if failOnFlaky is set.
func (r *Result) Fails(failOnFlaky bool) bool {
	bad := r.Verdict.Bad() || failOnFlaky && r.Verdict == Flaky
	return bad && r.KnownFailure == nil && r.Check.Severity == Must
}

// WhyUnjudged returns why no check gave a verdict, if none did: the first reason that
// the results give. It is "" if a check gave one, or if there are no results.
func WhyUnjudged(results []Result) string {
	reason := ""
	for _, r := range results {
		if r.Verdict.Judged() || r.Verdict.Bad() {
			return ""
		}
		reason = cmp.Or(reason, r.Reason)
	}
	if len(results) == 0 {
		return ""
	}
	return cmp.Or(reason, "no check has anything to assert")
}
