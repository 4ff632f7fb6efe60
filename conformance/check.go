package conformance

import (
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// Severity is how grave a failed check is. The zero value is Must.
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

// The verdicts. Sent is a pass in play of what only the live tier can prove:
// the subject wrote the right thing to the runtime.
const (
	Pass           Verdict = "pass"
	Sent           Verdict = "sent"
	Fail           Verdict = "fail"
	NotApplicable  Verdict = "not applicable"
	NotExpressible Verdict = "not expressible"
	NotTestable    Verdict = "not testable"
	Unrecorded     Verdict = "unrecorded"
	HarnessError   Verdict = "harness error"
)

// Bad reports whether the verdict fails the suite.
func (v Verdict) Bad() bool { return v == Fail || v == NotTestable || v == HarnessError }

// Check is one named rule.
type Check struct {
	ID string
	// Aliases are ids that also select the check, in --check and in files of known
	// failures: its former ids, and ids of rules that this check covers.
	Aliases  []string
	Sentence string
	Severity Severity
	Source   string
	Tiers    []Tier
	// Harm lists the faults that the check wants tried beside the plain run, by
	// operator name; nil: it judges the plain run.
	Faults []string
	// Instead gives acts that the check wants performed in place of the
	// scenario's, to see what comes of an end that was not recorded; nil acts: not
	// in this scenario.
	AlternateSteps func(s *fixtures.Scenario) []fixtures.Step
	// Wrote says that the check judges what the subject wrote to the runtime, so
	// that an act which the case does not hold is its business, not a reason to
	// give no verdict.
	JudgesWritten bool
	// Declared says that the check judges what the subject declares, so that what it
	// declared and cannot do is a failure, and not beyond what it can express.
	JudgesDeclared bool
	// Needs are the events, and members of them, without which there is nothing to
	// judge by: see Carrier.
	Needs []string
	// NeedsOf are further ones that it needs of a run, by what is in it; nil: none.
	NeedsFor func(r *Run) []string
	// ByLine says that it is judged by the line that each event came of, which
	// nobody knows in real time.
	NeedsLines bool
	// Judge looks at the plain run, and the one with other acts. It reports what it
	// looked at and what is wrong. nil: only runs with a harm are judged.
	Judge func(t *Trial, f *Finding)
	// JudgeHarm looks at one run with a harm, beside the plain one.
	JudgeFault func(plain, harmed *Run, f *Finding)
}

// HasID reports whether id is the check's id or one of its aliases.
func (c *Check) HasID(id string) bool { return c.ID == id || slices.Contains(c.Aliases, id) }

// Trial is what a check judges: the plain run and, of those with a harm, some in
// which something is wrong.
type Trial struct {
	*Run
	Faulted   []*Run
	Alternate *Run // with the acts that the check wanted instead, or nil
}

// Problem is one thing that is wrong.
type Problem struct {
	Text  string
	Diff  string // want and got, if there is more to show
	Seq   int64  // the event at which it shows, 0: none
	Line  int    // the line of the case's wire, 0: none
	Fault *fault.Fault

	Want, Got string // of Diff
	Missing   bool   // it did not come
}

// Finding collects what a check saw.
type Finding struct {
	Assertions int  // how many things were looked at
	Sent       bool // only what was written to the runtime was judged
	Problems   []Problem
}

// Look counts things that were looked at.
func (f *Finding) Asserted(n int) { f.Assertions += n }

// Failf notes a problem.
func (f *Finding) Failf(format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Text: fmt.Sprintf(format, args...)})
}

// Missingf notes that something did not come: in a run that has left the
// recording, that says nothing.
func (f *Finding) Missingf(format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Text: fmt.Sprintf(format, args...), Missing: true})
}

// At notes a problem at an event.
func (f *Finding) At(e Event, format string, args ...any) {
	f.Problems = append(f.Problems, Problem{Text: fmt.Sprintf(format, args...), Seq: e.Seq, Line: e.Line})
}

// Diff notes a problem with what was wanted and what came.
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
	Reason       string // for verdicts that are neither pass nor fail
	Problems     []Problem
	KnownFailure *KnownFailure // it failed, as was known
	Trial        *Trial        // nil where it did not fail, but with Config.Runs
}

// Judged reports whether the verdict says something of the subject.
func (v Verdict) Judged() bool { return v == Pass || v == Sent || v == Fail }
