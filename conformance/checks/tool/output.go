package tool

import (
	"regexp"
	"slices"
	"strconv"
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
			switch whole, known := printed(t, id, text); {
			case shortened(text, got), fillsSpan(text, got):
			case got == "" && d.IsError && denied[d.ToolUseID]: // the call did not run, so it printed nothing
			case elided.MatchString(got) && got == strings.TrimRight(text, "\n"):
				// the text that the model received for a call that did not complete
			case !strings.Contains(text, strings.TrimSpace(afterElided(got))) && !agree(text, got):
				f.At(e, "tool %s: output %q is not in what the model received: %q", d.ToolUseID, runindex.Clip(got), runindex.Clip(text))
			case background: // the model may have received more or less than had been printed by then
			case known && got != whole && (!elided.MatchString(got) || !agree(whole, got)) || !known && got == "" && prints(t, id):
				f.At(e, "tool %s: output is %q, the model received %q", d.ToolUseID, runindex.Clip(got), runindex.Clip(text))
			}
		}
	}
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

// typed returns the results of later calls that typed into a command: the rest of
// its output.
func typed(t *conformance.Trial, id string, sent map[string]string) string {
	var out strings.Builder
	for _, call := range runindex.Calls(t.Run) {
		var in struct {
			To string `json:"to"`
		}
		if call.Tool == "stdin" && json.Unmarshal(call.Input, &in) == nil && in.To == id {
			out.WriteString(sent[call.ID])
		}
	}
	return out.String()
}

// elided matches a span of text that a recording replaces by its length.
var elided = regexp.MustCompile(`<elided:\d+>`)

// plainText returns the text of a result, which older runtimes send as a list of
// texts.
func plainText(reported string) string {
	var list []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(reported), &list) != nil {
		return reported
	}
	var texts []string
	for _, c := range list {
		if c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// afterElided is the text behind the last span that a recording replaces by its
// length: text that was elided together with other words has another length there.
func afterElided(text string) string {
	if spans := elided.FindAllStringIndex(text, -1); len(spans) > 0 {
		return text[spans[len(spans)-1][1]:]
	}
	return text
}

// fillsSpan reports whether an output is the text that the model received, with as many
// bytes in place of its only elided span as that names.
func fillsSpan(text, got string) bool {
	spans := elided.FindAllStringIndex(text, -1)
	if len(spans) != 1 {
		return false
	}
	before, after := text[:spans[0][0]], strings.TrimRight(text[spans[0][1]:], "\n")
	return len(got) == len(before)+spanLength(text, spans[0])+len(after) && strings.HasPrefix(got, before) && strings.HasSuffix(got, after)
}

// spanLength is the length that an elided span names; 0 if it has too many digits.
func spanLength(text string, span []int) int {
	n, _ := strconv.Atoi(text[span[0]+len("<elided:") : span[1]-1])
	return n
}

// maxAgree bounds the product of the lengths that agree compares.
const maxAgree = 1 << 24

// agree reports whether a text can contain got if each elided span stands for at most
// as many bytes as it names: the redactor may elide more in one of the two than in the
// other. It reports true if they are too long to be compared, and false if nothing is
// elided.
func agree(text, got string) bool {
	if !elided.MatchString(text) && !elided.MatchString(got) {
		return false
	}
	w, g := spread(text), spread(strings.TrimSpace(got))
	if len(w)*len(g) > maxAgree {
		return true
	}
	// row[j] reports whether what was read of w can end with the first j of g.
	row, next := make([]bool, len(g)+1), make([]bool, len(g)+1)
	done := false
	for _, c := range append(w, 0) {
		row[0] = true // got may begin here
		for j, d := range g {
			row[j+1] = row[j+1] || row[j] && d == optional
		}
		if done = done || row[len(g)]; c == 0 {
			break
		}
		for j, d := range g {
			next[j+1] = c == optional && row[j+1] || row[j] && (c == d || c == optional || d == optional)
		}
		row, next = next, row
	}
	return done
}

// optional stands for a byte, or for none.
const optional = -1

// spread returns the bytes of a text, from 1 to 256, with each elided span as optional
// bytes.
func spread(text string) []int {
	var out []int
	at := 0
	literal := func(end int) {
		for _, c := range []byte(text[at:end]) {
			out = append(out, int(c)+1)
		}
	}
	for _, span := range elided.FindAllStringIndex(text, -1) {
		literal(span[0])
		out = append(out, slices.Repeat([]int{optional}, min(spanLength(text, span), maxAgree))...)
		at = span[1]
	}
	literal(len(text))
	return out
}

// printed returns the whole output of a scripted command that prints, if it can be
// separated from the words around it: in a recording those are elided in front.
func printed(t *conformance.Trial, id, reported string) (string, bool) {
	if t.Case == nil || !prints(t, id) {
		return "", false
	}
	if spans := elided.FindAllStringIndex(reported, -1); len(spans) > 0 {
		if spans[len(spans)-1][0] > 0 && reported[spans[len(spans)-1][0]-1] == '\n' {
			return "", false // within the output
		}
		reported = strings.TrimPrefix(reported[spans[len(spans)-1][1]:], "\n")
	}
	return strings.TrimRight(reported, "\n"), true
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
