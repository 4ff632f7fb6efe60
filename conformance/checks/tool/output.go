package tool

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Output is the check tool.output.
var Output = &conformance.Check{
	ID: "tool.output", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_result.exit_code", "tool_result.is_error", "tool_result.output", "tool_result.status"},
	Aliases:  []string{"wire.both-prefixes"},
	Needs:    []string{"tool_result", "tool_start.tool_use_id", "tool_result.output"},
	NeedsFor: outputNeeds,
	Mend:     "Copy the output from the line that carries the result. Derive is_error and the exit code from the same line.",
	Sentence: "The output of tool_result is part of what the runtime sent back to the model; newlines at its end are not compared. Its error flag and exit code agree.",
	Judge:    judgeOutput,
}

// outputNeeds is what tool.output needs of a run.
func outputNeeds(r *conformance.Run) []string {
	out := runindex.StreamNeeds(r)
	if slices.ContainsFunc(runindex.Answers(r), runindex.Denies) {
		out = append(out, "answer.message") // the client words the denial that the model receives
	}
	return out
}

func judgeOutput(t *conformance.Trial, f *conformance.Finding) {
	sent, denied := runindex.ToolResults(t.Run), runindex.DeniedCalls(t.Run)
	if runindex.Runtime(t.Run).ClientRunsTurns && t.Tier != conformance.TierLive {
		sent = runindex.ResultsWritten(t) // the subject words some itself
	}
	for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
		if e.SubagentID != "" {
			continue
		}
		if d.ExitCode != nil && *d.ExitCode != 0 && !d.IsError {
			f.At(e, "tool %s: exit code %d, but is_error is false", d.ToolUseID, *d.ExitCode)
		}
		if d.Status == event.ToolOK && d.IsError || d.Status == event.ToolError && !d.IsError {
			f.At(e, "tool %s: status %s, but is_error is %v", d.ToolUseID, d.Status, d.IsError)
		}
		background := d.Status == event.ToolBackgrounded
		if d.Status != event.ToolOK && d.Status != event.ToolError && !background {
			continue
		}
		for id, text := range sent {
			if !runindex.SameCall(t.Run, d.ToolUseID, id) {
				continue
			}
			f.Asserted(1)
			text = plainText(text) + typed(t, id, sent)
			got := strings.TrimRight(t.Recorded(d.Output), "\n")
			switch {
			case shortened(text, got):
			case d.IsError && statedAsOutput(t, e, &d): // some agents word a failure for the client in their own way
			case got == "" && d.IsError && denied[d.ToolUseID]: // the call did not run, so it printed nothing
			case !strings.Contains(text, strings.TrimSpace(got)):
				f.At(e, "tool %s: output %q is not in what the model received: %q", d.ToolUseID, runindex.Clip(got), runindex.Clip(text))
			case background: // the model may have received more or less than had been printed by then
			case prints(t, id) && !isWhole(t, text, got):
				f.At(e, "tool %s: output is %q, the model received %q", d.ToolUseID, runindex.Clip(got), runindex.Clip(text))
			}
		}
	}
}

// statedAsOutput reports whether an output is one that the runtime's line holds.
func statedAsOutput(t *conformance.Trial, e conformance.Event, d *event.ToolResult) bool {
	stated := runindex.StatedResult(t.Run, e, d.ToolUseID)
	return stated != nil && d.Output != "" && slices.ContainsFunc(stated.Outputs, func(s string) bool { return t.Recorded(s) == t.Recorded(d.Output) })
}

// longOutput is the size from which a runtime may send the model less than the
// client.
const longOutput = 8 << 10

// shortened reports whether the model received a long output without its middle:
// then the ends must be the same.
func shortened(reported, got string) bool {
	reported = strings.TrimRight(reported, "\n")
	return len(got) > longOutput && len(reported) > longOutput/16 && strings.HasSuffix(got, reported[len(reported)-longOutput/16:])
}

// typed returns the results of later calls that typed into a command, which are the rest
// of its output, each with the typed words, which a terminal may show behind it.
func typed(t *conformance.Trial, id string, sent map[string]string) string {
	var out strings.Builder
	for _, call := range runindex.Calls(t.Run) {
		var in struct {
			To   string `json:"to"`
			Text string `json:"text"`
		}
		if call.Tool == "stdin" && json.Unmarshal(call.Input, &in) == nil && in.To == id {
			out.WriteString(sent[call.ID] + "\n" + in.Text)
		}
	}
	return out.String()
}

// plainText returns the text of a result, which older runtimes send as a list of
// texts. A result may also be a list of something else, or an empty one.
func plainText(reported string) string {
	var list []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(reported), &list) != nil || len(list) == 0 {
		return reported
	}
	var texts []string
	for _, c := range list {
		if c.Type == "" {
			return reported
		}
		if c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// elidedBefore matches words of the runtime in front of an output, of which a recording
// holds only the length.
var elidedBefore = regexp.MustCompile(`<elided:\d+>\n?$`)

// isWhole reports whether a command that prints has its whole output, as far as that can be
// separated from the words of the runtime in front of it.
func isWhole(t *conformance.Trial, text, got string) bool {
	if t.Case == nil {
		return got != ""
	}
	before, ok := strings.CutSuffix(strings.TrimRight(text, "\n"), got)
	return ok && (before == "" || elidedBefore.MatchString(before))
}

// prints reports whether the scripted command prints something that it does not
// send elsewhere.
func prints(t *conformance.Trial, id string) bool {
	for _, call := range runindex.Calls(t.Run) {
		var in runindex.Input
		if call.ID != id || call.Tool != "shell" || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		if in.Background || strings.Contains(in.Command, ">") {
			return false
		}
		for word := range strings.FieldsSeq(in.Command) {
			switch word {
			case "echo", "printf", "cat", "wc":
				return true
			}
		}
	}
	return false
}
