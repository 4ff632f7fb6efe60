package checks

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// policyChecks are about a tool policy: a scenario's table says what the policy
// decides, and each check takes the calls of one kind.
func policyChecks() []*conformance.Check {
	check := func(id, sentence, source, kind string) *conformance.Check {
		return &conformance.Check{
			ID: id, Severity: conformance.Must, Source: source, Tiers: both, Sentence: sentence, JudgesWritten: true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) { judgePolicy(t, f, kind) },
		}
	}
	return []*conformance.Check{
		check("policy.table", "What the policy decides about a tool call is what the runtime is told: the denied call does nothing and the model hears of it, the allowed one runs.",
			"sidecars whose tool policy lives in a callback", ""),
		check("policy.no-bypass", "A denied command does not get through behind an allowed one: chained, substituted, in a shell of its own, redirected.",
			"deny patterns that are anchored at the start of a command", fixtures.JudgeBypass),
		check("policy.fail-closed", "What the policy cannot parse, or does not know, is denied.",
			"policies that let through what they do not understand", fixtures.JudgeUnknown),
	}
}

// judgedCalls are the calls of the model that the scenario's table speaks of, of
// one kind.
func judgedCalls(r *conformance.Run, kind string) []fixtures.Judged {
	said := allTools(r)
	return slices.DeleteFunc(slices.Clone(r.Scenario.Judge), func(j fixtures.Judged) bool {
		return j.Kind != kind || !slices.ContainsFunc(said, func(s fixtures.Said) bool { return s.ID == j.Tool })
	})
}

func judgePolicy(t *conformance.Trial, f *conformance.Finding, kind string) {
	calls := judgedCalls(t.Run, kind)
	if len(calls) == 0 {
		return
	}
	if t.Tier != conformance.TierLive {
		f.Sent = true
		for _, j := range calls {
			judgeReplies(t, f, j)
		}
		return
	}
	results := toolResults(t.Run)
	for _, j := range calls {
		f.Asserted(1)
		status, told := statusOf(t.Run, j.Tool)
		switch {
		case results[j.Tool] == "":
			f.Failf("%s was judged %s, and the model heard nothing of it", j.Tool, j.Effect)
		case j.Effect == fixtures.JudgeDeny && told && status != event.ToolDenied:
			f.Failf("%s was to be denied, and its result says %s; the model was told %s", j.Tool, status, clip(results[j.Tool]))
		case j.Effect == fixtures.JudgeAllow && status == event.ToolDenied:
			f.Failf("%s was to be allowed, and was denied; the model was told %s", j.Tool, clip(results[j.Tool]))
		}
	}
	judgeEffects(t, f, calls)
}

// judgeReplies: each question about the call, and each hook that is asked about
// it, got the reply that the table wants.
func judgeReplies(t *conformance.Trial, f *conformance.Finding, j fixtures.Judged) {
	denied := false
	for _, w := range t.ClientActions {
		if w.Kind != standin.KindAnswer || !aboutTool(t.Run, w.Tool, j.Tool) {
			continue
		}
		no := w.Answer == standin.Deny || w.Answer == standin.Cancel
		denied = denied || no
		switch {
		case j.Effect == fixtures.JudgeDeny && w.Answer == standin.Allow:
			f.Failf("the policy denies %s, and the subject said yes when %s asked", j.Tool, w.Asked)
		case j.Effect == fixtures.JudgeAllow && no:
			f.Asserted(1)
			f.Failf("the policy allows %s, and the subject said no when %s asked", j.Tool, w.Asked)
		case j.Effect == fixtures.JudgeAllow:
			f.Asserted(1)
		}
	}
	if j.Effect == fixtures.JudgeDeny {
		f.Asserted(1)
		if !denied {
			f.Missingf("the policy denies %s, and the subject never said no", j.Tool)
		}
	}
}

// aboutTool reports whether what a question names is this call of the model. One
// about a server's tool names the tool, or only the server.
func aboutTool(r *conformance.Run, named, id string) bool {
	if named == "" || isTool(named, id) {
		return named != ""
	}
	for _, call := range allTools(r) {
		var in struct {
			Server string `json:"server"`
			Tool   string `json:"tool"`
		}
		if call.ID != id || call.Tool != "mcp" || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		return named == "mcp__"+in.Server+"__"+in.Tool || named == "mcp__"+in.Server+"__"
	}
	return false
}

// statusOf is how the subject tells the end of a call; false: it does not.
func statusOf(r *conformance.Run, id string) (event.ToolStatus, bool) {
	for _, e := range r.Events {
		if d, ok := e.Data.(event.ToolResult); ok && isTool(d.ToolUseID, id) {
			return d.Status, true
		}
	}
	return "", false
}

// judgeEffects looks for what the denied calls would have done: a file that is
// another one now, and that one of them names and no allowed call does.
func judgeEffects(t *conformance.Trial, f *conformance.Finding, calls []fixtures.Judged) {
	for _, file := range changedFiles(t.Run) {
		if slices.ContainsFunc(t.Scenario.Judge, func(j fixtures.Judged) bool { return j.Effect != fixtures.JudgeDeny && names(t.Run, j.Tool, file) }) {
			continue
		}
		for _, j := range calls {
			if j.Effect == fixtures.JudgeDeny && names(t.Run, j.Tool, file) {
				f.Failf("the file %s is not as it was: %s was denied, and happened", file, j.Tool)
			}
		}
	}
}

// changedFiles are those that a live run has made, changed or removed.
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

// names reports whether a call speaks of the file, or of a folder of it, or is
// one of a server's tool that makes it.
func names(r *conformance.Run, id, file string) bool {
	for _, call := range allTools(r) {
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
				if tool.Makes == file && aboutTool(r, "mcp__"+s.Name+"__"+tool.Name, id) {
					return true
				}
			}
		}
	}
	return false
}

// byPolicy are the questions of the runtime that the policy answers in the
// user's place, by their ids.
func byPolicy(r *conformance.Run) map[string]bool {
	out := map[string]bool{}
	if r.Scenario.Policy == nil {
		return out
	}
	if r.Tier == conformance.TierLive { // nobody else counts there
		for _, e := range r.Events {
			if d, ok := e.Data.(event.PermissionResolved); ok && d.By != event.ByUser {
				out[d.RequestID] = true
			}
		}
		return out
	}
	for _, w := range r.ClientActions {
		if w.Kind != standin.KindAnswer || w.Asked == "hook_callback" {
			continue
		}
		for _, j := range r.Scenario.Judge {
			if j.Effect != fixtures.JudgeAsk && aboutTool(r, w.Tool, j.Tool) {
				out[w.RequestID] = true
			}
		}
	}
	return out
}
