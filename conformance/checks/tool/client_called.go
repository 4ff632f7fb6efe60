package tool

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// ClientCalled is the check tool.client-called.
var ClientCalled = &conformance.Check{
	ID: "tool.client-called", Source: "wire/codex: item/tool/call; wire/claude: mcp_message", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:     "When the runtime calls a tool of the client, run it once by its call id with the input as received.",
	Sentence: "Each call of a tool of the client reaches it once, with the model's input, as the user has changed it.",
	Judge:    judgeCalled,
}

// judgeCalled compares the calls that reached the client's tools with those that
// the model made, in any order: they may run in parallel.
func judgeCalled(t *conformance.Trial, f *conformance.Finding) {
	var want, got []string
	for _, call := range runindex.Calls(t.Run) {
		if in, ok := runindex.ClientCall(call.OutputPart); !ok || ofComponents(t.Scenario, in.Tool) || deniedByName(t.Run, call.ID) {
			continue
		}
		f.Asserted(1)
		want = append(want, calledAs(call.OutputPart, changedInput(t.Run, call.ID)))
	}
	for _, c := range t.ToolCalls {
		got = append(got, c.Tool+" "+runindex.Canonical(c.Input))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		f.Failf("the model made the calls %q of the client's tools, the subject the calls %q", want, got)
	}
}

// deniedByName reports whether an answer of the user names a call and denies it.
func deniedByName(r *conformance.Run, id string) bool {
	return slices.ContainsFunc(runindex.Answers(r), func(a fixtures.Step) bool { return a.ID == id && runindex.Denies(a) })
}

// changedInput returns the members that an answer of the user changes in the input of a call that
// it names, or nil.
func changedInput(r *conformance.Run, id string) jsontext.Value {
	for _, a := range runindex.Answers(r) {
		if a.ID == id && a.What == fixtures.AnswerAllow {
			return a.Value
		}
	}
	return nil
}

// calledAs returns a call as the scenario writes it, with the changed members of its input.
func calledAs(s fixtures.OutputPart, changed jsontext.Value) string {
	in, ok := runindex.ClientCall(s)
	if !ok {
		return string(s.Input)
	}
	members := map[string]jsontext.Value{}
	if changed != nil && runindex.Decode(in.Arguments, &members) && runindex.Decode(changed, &members) {
		if b, err := json.Marshal(members, json.Deterministic(true)); err == nil {
			in.Arguments = b
		}
	}
	return in.Tool + " " + runindex.Canonical(in.Arguments)
}
