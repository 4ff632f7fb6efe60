package runindex

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// StreamNeeds returns what events must hold so that the stream of a run can be
// judged: whose text it is if there are sub-agents, which text was retracted if the
// runtime repeats or replaces text, the cause of a turn if the runtime began one by
// itself, and the end of a call that outlives its turn.
func StreamNeeds(r *conformance.Run) (out []string) {
	if len(Subagents(r)) > 0 {
		out = append(out, "subagent_id")
	}
	reqs := Requests(r)
	for i, q := range reqs {
		if Abandoned(reqs, i) {
			out = append(out, "block_end")
		}
		if slices.Contains(q.New, "task") {
			out = append(out, "turn_start.cause")
		}
	}
	for _, replies := range r.Scenario.Model {
		for _, reply := range replies {
			for _, p := range reply.Parts {
				if p.Form.Final != nil {
					out = append(out, "block_end")
				}
				var in Input
				if p.Tool != nil && Decode(p.Tool.Input, &in) && in.Background {
					out = append(out, "task")
				}
			}
		}
	}
	for _, a := range r.Scenario.Client {
		if a.Verb == fixtures.VerbKill {
			out = append(out, "session_end") // a subject that has none may not show that its runtime was killed
		}
	}
	return out
}

// ClientInput is the input of a call of a client's tool, as the scenario has it.
type ClientInput struct {
	Tool      string         `json:"tool"`
	Arguments jsontext.Value `json:"arguments"`
}

// ClientCall decodes the call of a client's tool; ok is false for other calls.
func ClientCall(s fixtures.OutputPart) (in ClientInput, ok bool) {
	ok = s.Tool == "client" && Decode(s.Input, &in)
	return in, ok
}

// Input is the input of a tool call, as scenarios have it.
type Input struct {
	Command    string `json:"command"`
	Path       string `json:"path"`
	Content    string `json:"content"`
	Old        string `json:"old"`
	New        string `json:"new"`
	Background bool   `json:"background"`
}

// Texts returns the values that a runtime must not rewrite.
func (s Input) Texts() []string {
	var out []string
	for _, v := range []string{s.Command, s.Content, s.Old, s.New} {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// Answers returns the answers of the scenario's client, in order, without those
// that come too late.
func Answers(r *conformance.Run) []fixtures.Step {
	var out []fixtures.Step
	for _, a := range r.Scenario.Client {
		if a.Verb == fixtures.VerbAnswer && !a.Late {
			out = append(out, a)
		}
	}
	return out
}

// Denies reports whether an answer denies the tool.
func Denies(a fixtures.Step) bool { return !a.Allows() && a.What != fixtures.AnswerValue }

// AskedBeforeClose counts the questions that the subject emitted before it was
// closed.
func AskedBeforeClose(r *conformance.Run) int {
	closing := slices.IndexFunc(r.Steps, func(d conformance.StepResult) bool { return d.Step.Verb == fixtures.VerbClose })
	n := 0
	for _, e := range r.Events {
		if closing >= 0 && e.Steps > closing {
			break
		}
		if e.Type() == event.TypePermissionRequest || e.Type() == event.TypeInterrupt {
			n++
		}
	}
	return n
}

// StopsTurn reports whether the client stops a turn: then the model may get no
// further request, and no tool result.
func StopsTurn(r *conformance.Run) bool {
	return HasStep(r, fixtures.VerbStop) || slices.ContainsFunc(Answers(r), func(a fixtures.Step) bool { return a.What == fixtures.AnswerCancel })
}

// AsksAbout reports whether the tool that a question names is a call of the model. A
// question about a tool of a server names the tool, or only the server.
func AsksAbout(r *conformance.Run, named, id string) bool {
	if named == "" || SameCall(r, named, id) {
		return named != ""
	}
	for _, call := range AllCalls(r) {
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

// HasStep reports whether the scenario's client does this.
func HasStep(r *conformance.Run, verb fixtures.Verb) bool { return CountSteps(r, verb) > 0 }

// CountSteps counts the steps of the scenario's client with a verb.
func CountSteps(r *conformance.Run, verb fixtures.Verb) int {
	n := 0
	for _, a := range r.Scenario.Client {
		if a.Verb == verb {
			n++
		}
	}
	return n
}
