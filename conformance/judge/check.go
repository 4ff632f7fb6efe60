// Package judge computes verdicts: it applies a check to runs, and compares a run with
// its golden file. It is not part of the stable interface.
package judge

import (
	"cmp"
	"fmt"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// unmetNeed returns why a check is not expressible for a run, or "".
func unmetNeed(c *conformance.Check, r *conformance.Run) string {
	all := c.Needs
	if c.NeedsFor != nil {
		all = slices.Concat(all, c.NeedsFor(r))
	}
	for _, need := range all {
		if !r.Supports(need) {
			return missing(need)
		}
	}
	return ""
}

// missing says in words of the documentation that a subject does not support a need: an
// event type, a member of one, or what a protocol may lack besides.
func missing(need string) string {
	switch need {
	case "answer.message":
		return "the subject's protocol has no message to the model with a denial"
	case "open.refused":
		return "the subject's protocol has no error for a session that the runtime refuses to open"
	case "open.failed":
		return "the subject's protocol has no request that opens a session, which could fail"
	case "tool_start.of_a_plan":
		return "the subject's protocol may put a plan in place of the tool call"
	}
	if ability, is := strings.CutPrefix(need, "can."); is {
		return "the subject does not declare " + ability
	}
	if slices.Contains(event.Types(), event.Type(need)) {
		return "the subject emits no event " + need
	}
	return "the subject's events have no member " + need
}

// Apply judges a trial with a check.
func Apply(c *conformance.Check, t *conformance.Trial, tier conformance.Tier) conformance.Result {
	var f conformance.Finding
	if c.Judge != nil && t.Harness == "" {
		Guard(c, &f, func() { c.Judge(t, &f) })
	}
	return Conclude(c, t, tier, &f)
}

// Guard calls judge, which applies the check and fills the finding. A check that
// panics is a defect of the suite, which must not fail the subject.
func Guard(c *conformance.Check, f *conformance.Finding, judge func()) {
	defer func() {
		if p := recover(); p != nil {
			f.Defect = fmt.Sprintf("internal error: %s panicked: %v\n%s", c.ID, p, debug.Stack())
		}
	}()
	judge()
}

func onlyMissing(f *conformance.Finding) bool {
	return len(f.Problems) > 0 && !slices.ContainsFunc(f.Problems, func(p conformance.Problem) bool { return !p.Missing })
}

// Conclude returns the result that a finding gives.
func Conclude(c *conformance.Check, t *conformance.Trial, tier conformance.Tier, f *conformance.Finding) conformance.Result {
	res := conformance.Result{Check: c, Subject: t.Subject, Tier: tier, Trial: t}
	if t.Case != nil {
		res.Case = t.Case.ID
	} else {
		res.Case = path.Join(t.Runtime, t.Version, t.Scenario.ID)
	}
	if t.Harness != "" {
		res.Verdict, res.Reason = conformance.HarnessError, t.Harness
		return res
	}
	if f.Defect != "" {
		res.Verdict, res.Reason = conformance.HarnessError, f.Defect
		return res
	}
	unsupported := cmp.Or(unmetNeed(c, t.Run), Unsupported(t.Run))
	for i, p := range f.Problems {
		switch {
		case p.Seq != 0 || p.Line != 0:
		case p.Fault != nil:
			f.Problems[i].Line = p.Fault.Line // 0 if the fault changes the whole wire
		case p.Want != p.Got:
			f.Problems[i].Seq = locate(t.Run, p.Want, p.Got)
		}
	}
	res.Assertions, res.Problems = f.Assertions, f.Problems
	switch {
	case f.Assertions == 0 && len(f.Problems) == 0:
		res.Verdict = conformance.NotApplicable
		if t.Tier == conformance.TierProcess {
			res.Reason = unsupported // what the scenario holds was not reached
		}
		if c.ServersOnly && len(t.Probes) == 0 {
			res.Reason = "the subject is no server"
		}
		if c.ProgramsOnly && len(t.Program) == 0 {
			res.Reason = "the subject is no program that the suite started"
		}
	case c.NeedsLines && t.Tier == conformance.TierProcess:
		res.Verdict, res.Reason, res.Problems = conformance.NotTried, "it needs the line that caused an event, which is not known in real time", nil
	case unsupported != "" && (!c.JudgesDeclared || len(f.Problems) == 0):
		res.Verdict, res.Reason = conformance.NotExpressible, unsupported
	case len(t.Unrecorded) > 0 && (!c.JudgesWritten || onlyMissing(f)):
		// The stand-in had no reply, so the events after it are neither right nor wrong.
		res.Verdict, res.Reason = conformance.Unrecorded, t.Unrecorded[0]
	case len(f.Problems) > 0:
		res.Verdict = conformance.Fail
	case t.Unfinished() != "":
		// What was judged until then may be the smaller part.
		res.Verdict, res.Reason = conformance.NotTried, "the case was not performed to its end: "+t.Unfinished()
	case f.Sent:
		res.Verdict = conformance.Sent
	default:
		res.Verdict = conformance.Pass
	}
	return res
}
