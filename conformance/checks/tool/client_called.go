package tool

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// ClientCalled is the check tool.client-called.
var ClientCalled = &conformance.Check{
	ID: "tool.client-called", Source: "wire/codex: item/tool/call; wire/claude: mcp_message", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:     "When the runtime calls a tool of the client, run it once by its call id with the input as received.",
	Sentence: "Each call of a tool of the client reaches it once, with the model's input.",
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
		want = append(want, calledAs(call.OutputPart))
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

// calledAs returns a call as the scenario writes it.
func calledAs(s fixtures.OutputPart) string {
	in, ok := runindex.ClientCall(s)
	if !ok {
		return string(s.Input)
	}
	return in.Tool + " " + runindex.Canonical(in.Arguments)
}
