package checks

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

func judgeOutput(t *conformance.Trial, f *conformance.Finding) {
	sent := toolResults(t.Run)
	for _, e := range t.Events {
		d, ok := e.Data.(event.ToolResult)
		if !ok || e.SubagentID != "" {
			continue
		}
		if d.ExitCode != nil && *d.ExitCode != 0 && !d.IsError {
			f.At(e, "tool %s: exit code %d, but is_error is false", d.ToolUseID, *d.ExitCode)
		}
		if d.Status == event.ToolOK && d.IsError || d.Status == event.ToolError && !d.IsError {
			f.At(e, "tool %s: status %s, but is_error is %v", d.ToolUseID, d.Status, d.IsError)
		}
		if d.Status != event.ToolOK && d.Status != event.ToolError {
			continue
		}
		for id, text := range sent {
			if !isTool(d.ToolUseID, id) {
				continue
			}
			f.Asserted(1)
			text = plainText(text) + typed(t, id, sent)
			got := strings.TrimRight(t.Recorded(d.Output), "\n")
			switch whole, known := printed(t, id, text); {
			case shortened(text, got):
			case elided.MatchString(got) && got == strings.TrimRight(text, "\n"):
				// word for word what the model was told of a call that did not run to its end
			case !strings.Contains(text, strings.TrimSpace(afterElided(got))):
				f.At(e, "tool %s: output %q is not in what the model was told: %q", d.ToolUseID, clip(got), clip(text))
			case known && got != whole || !known && got == "" && prints(t, id):
				f.At(e, "tool %s: output is %q, the model was told %q", d.ToolUseID, clip(got), clip(text))
			}
		}
	}
}

// longOutput is from where on a runtime may tell the model less than the client.
const longOutput = 8 << 10

// keptOutput is from where on a runtime may leave out the middle of an output to
// the client, too.
const keptOutput = 512 << 10

// shortened reports whether the model was told a long output without its
// middle: then the ends must be the same.
func shortened(told, got string) bool {
	told = strings.TrimRight(told, "\n")
	return len(got) > longOutput && len(told) > longOutput/16 && strings.HasSuffix(got, told[len(told)-longOutput/16:])
}

// typed is what the runtime sent back of later calls that typed into a command:
// the rest of its output.
func typed(t *conformance.Trial, id string, sent map[string]string) string {
	var out strings.Builder
	for _, call := range saidTools(t.Run) {
		var in struct {
			To string `json:"to"`
		}
		if call.Tool == "stdin" && json.Unmarshal(call.Input, &in) == nil && in.To == id {
			out.WriteString(sent[call.ID])
		}
	}
	return out.String()
}

// judgeStreamed: what came while the tool ran stands in the result, each piece
// behind the one before it. The start may be missing among the pieces.
func judgeStreamed(t *conformance.Trial, res event.ToolResult, f *conformance.Finding) {
	at := 0
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.ToolOutput:
			if d.ToolUseID != res.ToolUseID || e.SubagentID != "" {
				continue
			}
			f.Asserted(1)
			i := strings.Index(res.Output[at:], d.Text)
			if i < 0 && len(res.Output) >= keptOutput {
				continue // it may have stood in the middle
			}
			if i < 0 {
				f.At(e, "tool %s: the piece %q does not stand in the result, behind the pieces before it: %q", d.ToolUseID, clip(d.Text), clip(res.Output))
				return
			}
			at += i + len(d.Text)
		case event.ToolResult:
			if d.ToolUseID == res.ToolUseID && e.SubagentID == "" {
				return // pieces after it are another check's
			}
		}
	}
}

// elided is a span that a recording holds as its length.
var elided = regexp.MustCompile(`<elided:\d+>`)

// plainText is what the model was told, out of the list of texts in which an
// older runtime tells it.
func plainText(told string) string {
	var list []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(told), &list) != nil {
		return told
	}
	var texts []string
	for _, c := range list {
		if c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// afterElided is the text behind the last span that a recording holds as its
// length: what was elided together with other words has another length there.
func afterElided(text string) string {
	if spans := elided.FindAllStringIndex(text, -1); len(spans) > 0 {
		return text[spans[len(spans)-1][1]:]
	}
	return text
}

// printed is the whole output of a scripted command that prints, where it can
// be told from the words with which the runtime wraps it: in a recording those
// stand elided in front.
func printed(t *conformance.Trial, id, told string) (string, bool) {
	if t.Case == nil || !prints(t, id) {
		return "", false
	}
	if spans := elided.FindAllStringIndex(told, -1); len(spans) > 0 {
		if spans[len(spans)-1][0] > 0 && told[spans[len(spans)-1][0]-1] == '\n' {
			return "", false // within the output
		}
		told = strings.TrimPrefix(told[spans[len(spans)-1][1]:], "\n")
	}
	return strings.TrimRight(told, "\n"), true
}

// prints reports whether the scripted command prints something that it does not
// send elsewhere.
func prints(t *conformance.Trial, id string) bool {
	for _, call := range saidTools(t.Run) {
		var in scripted
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

func clip(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}

// scripted are the inputs that scenarios give to tools.
type scripted struct {
	Command    string `json:"command"`
	Path       string `json:"path"`
	Content    string `json:"content"`
	Old        string `json:"old"`
	New        string `json:"new"`
	Background bool   `json:"background"`
}

// texts are the values that no runtime may spell in its own way.
func (s scripted) texts() []string {
	var out []string
	for _, v := range []string{s.Command, s.Content, s.Old, s.New} {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// holds reports whether a string somewhere in a JSON value contains a text. A
// runtime may hand a command to a shell: the shell's quoting does not count.
func holds(raw event.Raw, text string) bool {
	var v any
	if !decodeLine(raw, &v) {
		return false
	}
	return holdsValue(v, text)
}

func holdsValue(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text) || strings.Contains(unquoted(v), unquoted(text))
	case []any:
		for _, x := range v {
			if holdsValue(x, text) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if holdsValue(x, text) {
				return true
			}
		}
	}
	return false
}

// unquoted leaves out what a shell needs for quoting.
func unquoted(s string) string { return strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(s) }
