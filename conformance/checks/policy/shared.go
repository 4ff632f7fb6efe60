package policy

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// judgedCalls returns the verdicts of one kind in the scenario's table whose calls the
// model made.
func judgedCalls(r *conformance.Run, kind string) []fixtures.PolicyVerdict {
	said := runindex.AllCalls(r)
	return slices.DeleteFunc(slices.Clone(r.Scenario.Verdicts), func(j fixtures.PolicyVerdict) bool {
		return j.Kind != kind || !slices.ContainsFunc(said, func(s fixtures.OutputPart) bool { return s.ID == j.Tool })
	})
}

func judgePolicy(t *conformance.Trial, f *conformance.Finding, kind string) {
	calls := judgedCalls(t.Run, kind)
	if len(calls) == 0 {
		return
	}
	if t.Tier != conformance.TierLive {
		f.Sent = true
		byClient := runindex.Runtime(t.Run).ClientRunsTurns
		for _, j := range calls {
			if byClient {
				judgeResult(t, f, j)
			} else {
				judgeReplies(t, f, j)
			}
		}
		return
	}
	results := runindex.ToolResults(t.Run)
	for _, j := range calls {
		f.Asserted(1)
		status, reported := statusOf(t.Run, j.Tool)
		switch {
		case results[j.Tool] == "":
			f.Failf("%s was judged %s, but the model got no result", j.Tool, j.Effect)
		case j.Effect == fixtures.VerdictDeny && reported && status != event.ToolDenied:
			f.Failf("%s had to be denied, but its result is %s; the model received %s", j.Tool, status, runindex.Clip(results[j.Tool]))
		case j.Effect == fixtures.VerdictAllow && status == event.ToolDenied:
			f.Failf("%s had to be allowed, but was denied; the model received %s", j.Tool, runindex.Clip(results[j.Tool]))
		}
	}
	judgeEffects(t, f, calls)
}

// judgeResult demands that a subject which runs the turns itself runs the call, or sends the
// model the reason of the denial as its result.
func judgeResult(t *conformance.Trial, f *conformance.Finding, j fixtures.PolicyVerdict) {
	if len(t.Opens) == 0 || t.Opens[0].Denial == "" {
		return // the subject has its own policy, and words its reasons
	}
	sent, have := runindex.ResultsWritten(t)[j.Tool]
	f.Asserted(1)
	switch reason := t.Opens[0].Denial; {
	case !have:
		f.Missingf("%s was judged %s, but the subject sent no result of it to the model", j.Tool, j.Effect)
	case j.Effect == fixtures.VerdictDeny && !strings.Contains(sent, reason):
		f.Failf("the policy denies %s because %q, but the model received %q", j.Tool, reason, runindex.Clip(sent))
	case j.Effect == fixtures.VerdictAllow && strings.Contains(sent, reason):
		f.Failf("the policy allows %s, but the model received %q", j.Tool, runindex.Clip(sent))
	}
}

// judgeReplies demands that each question about the call, and each hook for it, got
// the reply of the table.
func judgeReplies(t *conformance.Trial, f *conformance.Finding, j fixtures.PolicyVerdict) {
	denied, reason := false, reasonToSend(t)
	for _, w := range t.ClientActions {
		if w.Kind != standin.KindAnswer || !runindex.AsksAbout(t.Run, w.Tool, j.Tool) {
			continue
		}
		no := w.Answer == standin.Deny || w.Answer == standin.Cancel
		denied = denied || no
		switch {
		case j.Effect == fixtures.VerdictDeny && w.Answer == standin.Allow:
			f.Failf("the policy denies %s, but the subject allowed it when %s asked", j.Tool, w.Asked)
		case j.Effect == fixtures.VerdictAllow && no:
			f.Asserted(1)
			f.Failf("the policy allows %s, but the subject denied it when %s asked", j.Tool, w.Asked)
		case j.Effect == fixtures.VerdictAllow:
			f.Asserted(1)
		case no && reason != "":
			f.Asserted(1)
			if !runindex.Holds(w.Bytes, reason) {
				f.Failf("the policy denies %s because %q, but the subject did not send the reason when %s asked", j.Tool, reason, w.Asked)
			}
		}
	}
	if j.Effect == fixtures.VerdictDeny {
		f.Asserted(1)
		if !denied {
			f.Missingf("the policy denies %s, but the subject never denied it", j.Tool)
		}
	}
}

// reasonToSend returns the reason of the policy's denials, if the runtime takes one from its
// client; "" otherwise.
func reasonToSend(t *conformance.Trial) string {
	if len(t.Opens) == 0 || t.Case == nil {
		return ""
	}
	reason := t.Opens[0].Denial
	if reason == "" || !slices.ContainsFunc(t.Case.Wire, func(l fixtures.WireLine) bool {
		return l.Dir == fixtures.In && runindex.Holds(l.Bytes, reason)
	}) {
		return ""
	}
	return reason
}

// statusOf returns the status of the first tool_result of a call.
func statusOf(r *conformance.Run, id string) (event.ToolStatus, bool) {
	for _, d := range runindex.EventsOf[event.ToolResult](r) {
		if runindex.SameCall(r, d.ToolUseID, id) {
			return d.Status, true
		}
	}
	return "", false
}

// judgeEffects looks for effects of denied calls: a changed file that one of them
// names and no allowed call does.
func judgeEffects(t *conformance.Trial, f *conformance.Finding, calls []fixtures.PolicyVerdict) {
	for _, file := range changedFiles(t.Run) {
		if slices.ContainsFunc(t.Scenario.Verdicts, func(j fixtures.PolicyVerdict) bool {
			return j.Effect != fixtures.VerdictDeny && names(t.Run, j.Tool, file)
		}) {
			continue
		}
		for _, j := range calls {
			if j.Effect == fixtures.VerdictDeny && names(t.Run, j.Tool, file) {
				f.Failf("the file %s has changed: %s was denied, but took effect", file, j.Tool)
			}
		}
	}
}

// changedFiles returns the files that a live run created, changed or removed.
func changedFiles(r *conformance.Run) []string {
	var out []string
	for file, was := range r.Scenario.Workspace {
		if is, there := r.Workspace[file]; !there || string(is) != string(was) {
			out = append(out, file)
		}
	}
	for file := range r.Workspace {
		if _, was := r.Scenario.Workspace[file]; !was {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out
}

// names reports whether a call names the file or one of its folders, or calls a
// server's tool that creates it.
func names(r *conformance.Run, id, file string) bool {
	for _, call := range runindex.AllCalls(r) {
		if call.ID != id {
			continue
		}
		for part := range strings.SplitSeq(file, "/") {
			if strings.Contains(string(call.Input), part) {
				return true
			}
		}
		for _, s := range r.Scenario.Servers {
			for _, tool := range s.Tools {
				if tool.Makes == file && runindex.AsksAbout(r, "mcp__"+s.Name+"__"+tool.Name, id) {
					return true
				}
			}
		}
	}
	return false
}
