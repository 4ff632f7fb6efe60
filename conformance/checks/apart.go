package checks

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// exactly are members that a check needs as the runtime has them, beside the
// events that hold them: a subject may have ids of its own for calls, or show
// their input and output only as made for people.
var exactly = map[string][]string{
	"session.resume-unknown":           {"open.refused"},
	"session.resume-no-replay":         {"session_ready.resumed"},
	"turn.crash-ends":                  {"error.code"},
	"process.gentle":                   {"session_end"}, // who tells of no end is ended by a signal to its group, and its runtime with it
	"process.no-orphans":               {"session_end"},
	"turn.child-end-is-not-parent-end": {"subagent_id"},
	"tool.known":                       {"tool_start.tool_use_id", "tool_start.input"},
	"tool.output":                      {"tool_start.tool_use_id", "tool_result.output"},
	"permission.asked":                 {"permission_request.tool_input", "permission_request.tool_use_id"},
	"replay.equals-live":               {"delta.block_id"},
}

// ofTheStream are the checks that judge the stream of text, thinking and calls,
// and so need what tells apart whatever else is in the case.
var ofTheStream = []string{
	"turn.one-terminal", "turn.nothing-after-terminal", "turn.stop", "turn.after-stop", "text.once", "text.order",
	"thinking.delivered", "tool.known", "tool.paired", "tool.output", "wire.split", "text.result",
}

// needsOf is what a check needs of a run, by what is in it.
func needsOf(id string) func(*conformance.Run) []string {
	switch {
	case id == "tool.output":
		return func(r *conformance.Run) []string {
			out := toTellApart(r)
			if slices.ContainsFunc(answers(r), denies) {
				out = append(out, "answer.message") // what the model is told of a denial is the client's words
			}
			return out
		}
	case id == "tool.known":
		return func(r *conformance.Run) []string {
			out := toTellApart(r)
			if slices.ContainsFunc(saidTools(r), func(t saidTool) bool { return t.Tool == "todo" }) {
				out = append(out, "tool_start.of_a_plan") // an agent may tell the plan in place of its calls
			}
			return out
		}
	case slices.Contains(ofTheStream, id):
		return toTellApart
	}
	return nil
}

// toTellApart is what events must carry for the stream of a run to be judged:
// whose text it is where there are sub-agents, what was taken back where the
// runtime says a text again or otherwise, which turn it is where the runtime began
// one by itself, what becomes of a call that outlives its turn.
func toTellApart(r *conformance.Run) (out []string) {
	if len(agentsOf(r)) > 0 {
		out = append(out, "subagent_id")
	}
	reqs := mainRequests(r)
	for i, q := range reqs {
		if abandoned(reqs, i) {
			out = append(out, "block_end")
		}
		if slices.Contains(q.New, "task") {
			out = append(out, "turn_start.cause")
		}
	}
	for _, replies := range r.Scenario.Model {
		for _, reply := range replies {
			for _, p := range reply.Parts {
				if p.How.Final != nil {
					out = append(out, "block_end")
				}
				var in scripted
				if p.Tool != nil && decodeLine(p.Tool.Input, &in) && in.Background {
					out = append(out, "task")
				}
			}
		}
	}
	for _, a := range r.Scenario.Client {
		if a.Verb == fixtures.VerbKill {
			out = append(out, "session_end") // and with it what becomes of a subject whose runtime is killed
		}
	}
	return out
}
