package checks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

func clientChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "tool.client-offered", Severity: conformance.Must, Source: "wire/codex: dynamicTools; wire/claude: mcp_message", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:      "A tool of the client's is offered to the runtime with its name, its description and its schema.",
			JudgesWritten: true,
			Judge:         judgeOffered,
		},
		{
			ID: "tool.client-called", Severity: conformance.Must, Source: "wire/codex: item/tool/call; wire/claude: mcp_message", Tiers: both,
			Sentence: "Each call of a tool of the client's reaches it, once, with what the model said.",
			Judge:    judgeCalled,
		},
		{
			ID: "tool.client-answered", Severity: conformance.Must, Source: "wire/codex: item/tool/call; wire/claude: mcp_message", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:      "Each call of what the client brings, its tools and hooks, gets a reply, and what a tool answers is told to the runtime, each answer once.",
			JudgesWritten: true,
			Judge:         judgeToldBack,
		},
		{
			ID: "tool.client-let-go", Severity: conformance.Must, Source: "wire/claude: control_cancel_request, notifications/cancelled; wire/codex: turn/interrupt", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence: "A tool or hook of the client's whose call the runtime takes back, or whose session ends, is told at once: its context ends.",
			Judge:    judgeLetGo,
		},
	}
}

// judgeLetGo compares when the calls that nobody wants any more were told so with
// when the runtime took them back. What waits is told in the order of the calls.
func judgeLetGo(t *conformance.Trial, f *conformance.Finding) {
	var told []conformance.BlockedCall
	for _, w := range t.BlockedCalls {
		if w.Cancelled {
			told = append(told, w)
		}
		if !w.Over {
			f.Asserted(1)
			f.Failf("%s works for nobody: the session has ended, and the context of its call has not", w.Name)
		}
	}
	for _, a := range t.RuntimeRequests {
		if a.Withdrawal == nil || isQuestion(a.Method) || len(t.BlockedCalls) == 0 {
			continue
		}
		f.Asserted(1)
		back := lineOf(t.Run, a.Withdrawal.Line)
		switch {
		case len(told) == 0:
			f.Problems = append(f.Problems, conformance.Problem{Line: a.Withdrawal.Line, Text: fmt.Sprintf("the runtime took request %s (%s) back, and no tool or hook was told", a.ID, a.Method)})
			return
		case told[0].At > back.At:
			f.Problems = append(f.Problems, conformance.Problem{Line: a.Withdrawal.Line, Text: fmt.Sprintf("the runtime took request %s (%s) back, and %s was told %v later", a.ID, a.Method, told[0].Name, told[0].At-back.At)})
		}
		told = told[1:]
	}
}

// judgeOffered looks through all that the subject wrote: each runtime has a
// message of its own that offers tools, and all describe a tool in these words.
func judgeOffered(t *conformance.Trial, f *conformance.Finding) {
	for _, tool := range t.Scenario.Tools {
		if ofComponents(t.Scenario, tool.Name) {
			continue // described as the subject likes
		}
		f.Asserted(1)
		f.Sent = true
		want := offer{tool.Name, tool.Description, oneForm(tool.Schema)}
		var near []offer
		for _, w := range t.ClientActions {
			near = append(near, offers(w.Bytes)...)
		}
		if tool.Schema == nil { // the scenario says nothing of the input: nor must the offer
			for i := range near {
				near[i].schema = want.schema
			}
		}
		switch i := slices.IndexFunc(near, func(o offer) bool { return o.name == want.name }); {
		case slices.Contains(near, want):
		case i < 0:
			f.Failf("the tool %s of the client's is in nothing that the subject wrote", tool.Name)
		default:
			f.Failf("the tool %s of the client's was offered as %q with the schema %s; it is %q with %s",
				tool.Name, near[i].description, near[i].schema, want.description, want.schema)
		}
	}
}

// offer is a tool as it is told to a runtime.
type offer struct{ name, description, schema string }

// offers are all descriptions of tools anywhere in a line.
func offers(line []byte) []offer {
	var v any
	if !decodeLine(line, &v) {
		return nil
	}
	var out []offer
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			name, _ := v["name"].(string)
			schema, described := v["inputSchema"]
			if described {
				description, _ := v["description"].(string)
				b, err := json.Marshal(schema, json.Deterministic(true))
				if err == nil {
					out = append(out, offer{name, description, oneForm(b)})
				}
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	return out
}

// oneForm is a JSON value in its one form, to be compared as text. None is an
// object without members.
func oneForm(v jsontext.Value) string {
	if len(v) == 0 {
		return "{}"
	}
	v = v.Clone()
	if err := v.Canonicalize(); err != nil {
		return string(v)
	}
	return string(v)
}

// judgeCalled compares the calls that reached the client's tools with those that
// the model made, in any order: they run side by side.
func judgeCalled(t *conformance.Trial, f *conformance.Finding) {
	var want, got []string
	for _, call := range saidTools(t.Run) {
		if in, ok := clientCall(call.Said); !ok || ofComponents(t.Scenario, in.Tool) {
			continue
		}
		f.Asserted(1)
		want = append(want, calledAs(call.Said))
	}
	for _, c := range t.ToolCalls {
		got = append(got, c.Tool+" "+oneForm(c.Input))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		f.Failf("the model called the client's tools as %q; they were called as %q", want, got)
	}
}

// calledAs is a call by the scenario's words for it.
func calledAs(s fixtures.Said) string {
	in, ok := clientCall(s)
	if !ok {
		return string(s.Input)
	}
	return in.Tool + " " + oneForm(in.Arguments)
}

// toClient is a call of a tool of the client's, as a scenario has it.
type toClient struct {
	Tool      string         `json:"tool"`
	Arguments jsontext.Value `json:"arguments"`
}

func clientCall(s fixtures.Said) (in toClient, ok bool) {
	ok = s.Tool == "client" && decodeLine(s.Input, &in)
	return in, ok
}

// judgeToldBack looks for the answers of the client's tools, or why they failed,
// in the lines that the subject wrote.
func judgeToldBack(t *conformance.Trial, f *conformance.Finding) {
	judgeServed(t, f)
	for _, tool := range t.Scenario.Tools {
		want := 0
		for _, c := range t.ToolCalls {
			if c.Tool == tool.Name && c.Answered {
				want++
			}
		}
		said := answersOf(&tool)
		if want == 0 || len(said) == 0 {
			continue
		}
		f.Asserted(want)
		f.Sent = true
		got := 0
		for _, w := range t.ClientActions {
			if inStrings(w.Bytes, said) {
				got++
			}
		}
		if got != want {
			f.Failf("the tool %s of the client's answered %d times with %q; the subject wrote that %d times", tool.Name, want, said, got)
		}
	}
}

// judgeServed: the runtime has called what the client brings, and waits.
func judgeServed(t *conformance.Trial, f *conformance.Finding) {
	if len(t.Unrecorded) > 0 && waitsForFile(t.Scenario) {
		return // what the call waits for was never written
	}
	for _, a := range t.RuntimeRequests {
		if !a.Expected || isQuestion(a.Method) {
			continue
		}
		f.Asserted(1)
		f.Sent = true
		if !a.Answered && !a.Withdrawn {
			f.Problems = append(f.Problems, conformance.Problem{
				Line: a.Line.Line, Text: fmt.Sprintf("process %d: request %s (%s) of the runtime got no reply", a.Process, a.ID, a.Method),
			})
		}
	}
}

// waitsForFile reports whether a tool or hook of the client answers only when a
// later act has written a file.
func waitsForFile(s *fixtures.Scenario) bool {
	return slices.ContainsFunc(s.Tools, func(t fixtures.Tool) bool { return t.Awaits != "" }) ||
		slices.ContainsFunc(s.Hooks, func(h fixtures.Hook) bool { return h.Awaits != "" })
}

// answersOf are the texts and images that a tool answers with, or why it fails.
func answersOf(t *fixtures.Tool) []string {
	if t.Fail != "" {
		return []string{t.Fail}
	}
	var out []string
	for _, r := range t.Result {
		out = append(out, r.Text+r.Image)
	}
	return out
}

// inStrings reports whether all texts stand in a line, each in a string of it.
func inStrings(line []byte, texts []string) bool {
	var all []string
	for d := jsontext.NewDecoder(bytes.NewReader(line)); ; {
		tok, err := d.ReadToken()
		if err != nil {
			break // the end of the line, or of what is JSON of it
		}
		if tok.Kind() == '"' {
			all = append(all, tok.String())
		}
	}
	for _, text := range texts {
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, text) }) {
			return false
		}
	}
	return true
}
