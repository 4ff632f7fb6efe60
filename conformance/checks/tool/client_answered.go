package tool

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// ClientAnswered is the check tool.client-answered.
var ClientAnswered = &conformance.Check{
	ID: "tool.client-answered", Source: "wire/codex: item/tool/call; wire/claude: mcp_message", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Reply to each call with its request id, also if the tool fails or panics. Reply once.",
	Sentence:      "Each call of a tool or hook of the client gets a reply, and the runtime receives each answer of a tool once.",
	JudgesWritten: true,
	Judge:         judgeAnswersWritten,
}

// judgeAnswersWritten looks for the answers of the client's tools, or their errors,
// in the lines that the subject wrote.
func judgeAnswersWritten(t *conformance.Trial, f *conformance.Finding) {
	judgeServed(t, f)
	for _, tool := range t.Scenario.Tools {
		want := 0
		said := answersOf(&tool)
		for _, other := range t.Scenario.Tools { // with the same answer
			for _, c := range t.ToolCalls {
				if c.Tool == other.Name && c.Answered && slices.Equal(answersOf(&other), said) {
					want++
				}
			}
		}
		if want == 0 || len(said) == 0 {
			continue
		}
		f.Asserted(want)
		f.Sent = true
		if got := countAnswers(t, said); got != want {
			f.Failf("the client's tool %s answered %d times with %q; the subject wrote this answer %d times", tool.Name, want, said, got)
		}
	}
}

// countAnswers counts the results of calls that hold the texts. A line of a wire that repeats
// the whole history holds the same result again.
func countAnswers(t *conformance.Trial, texts []string) int {
	rt := runindex.Runtime(t.Run)
	lines, calls := 0, map[string]bool{}
	for _, w := range t.ClientActions {
		var results map[string]jsontext.Value
		if rt.ReadInput != nil {
			if in := rt.ReadInput(w.Bytes); in.Step != nil {
				results = in.Step.Results
			}
		}
		if results == nil && inStrings(w.Bytes, texts) {
			lines++
		}
		for call, result := range results {
			if inStrings(result, texts) {
				calls[call] = true
			}
		}
	}
	return lines + len(calls)
}

// judgeServed demands a reply to each call of the client's tools and hooks, because
// the runtime waits for it.
func judgeServed(t *conformance.Trial, f *conformance.Finding) {
	if len(t.Unrecorded) > 0 && waitsForFile(t.Scenario) {
		return // what the call waits for was never written
	}
	for _, a := range t.RuntimeRequests {
		if !a.Expected || !a.Calls {
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
// later step has written a file.
func waitsForFile(s *fixtures.Scenario) bool {
	return slices.ContainsFunc(s.Tools, func(t fixtures.Tool) bool { return t.Awaits != "" }) ||
		slices.ContainsFunc(s.Hooks, func(h fixtures.Hook) bool { return h.Awaits != "" })
}

// answersOf returns the texts and images that a tool answers with, or its error.
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

// inStrings reports whether a line holds all texts, each in one of its strings.
func inStrings(line []byte, texts []string) bool {
	var all []string
	for d := jsontext.NewDecoder(bytes.NewReader(line)); ; {
		tok, err := d.ReadToken()
		if err != nil {
			break // the end of the line, or of its JSON
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
