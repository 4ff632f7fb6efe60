package acp

import (
	"cmp"
	stdjson "encoding/json"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// tool is a tool call.
type tool struct {
	id        acpsdk.ToolCallId
	title     string
	kind      acpsdk.ToolKind
	input     map[string]any
	raw       event.Raw // the input
	locations []acpsdk.ToolCallLocation
	content   string // the text of its content
	output    any    // rawOutput
	started   bool
	ended     bool
}

// updateTool handles a tool_call (first), an update to one, or the call in a
// permission request.
func (x *session) updateTool(u *acpsdk.SessionToolCallUpdate, first bool) {
	t := x.tools[u.ToolCallId]
	if t == nil || first && t.ended {
		// ACP has updates only for calls that began. An update to an unknown call gets no
		// tool_start, so that it shows as a result without its call.
		t = &tool{id: u.ToolCallId, started: !first}
		x.tools[t.id], x.order = t, append(x.order, t.id)
		if first {
			x.endThought()
			x.EndBlock(event.BlockComplete)
		}
	}
	t.merge(u)
	status := acpsdk.ToolCallStatus("")
	if u.Status != nil {
		status = *u.Status
	}
	if len(t.input) > 0 || status != "" && status != acpsdk.ToolCallStatusPending || !first && t.content != "" {
		x.startTool(t)
	}
	if t.ended {
		return // the update changes only a title or locations
	}
	switch status {
	case acpsdk.ToolCallStatusCompleted:
		x.endTool(t, event.ToolOK)
	case acpsdk.ToolCallStatusFailed:
		if x.cancelled {
			x.endTool(t, event.ToolInterrupted) // ACP has no other status for it
			return
		}
		x.endTool(t, event.ToolError)
	}
}

// merge copies the members that an update has.
func (t *tool) merge(u *acpsdk.SessionToolCallUpdate) {
	if u.Title != nil && *u.Title != "" {
		t.title = *u.Title
	}
	if u.Kind != nil && *u.Kind != "" {
		t.kind = *u.Kind
	}
	if u.Locations != nil {
		t.locations = u.Locations
	}
	if in, ok := u.RawInput.(map[string]any); ok && !t.started {
		t.input = in
		if b, err := stdjson.Marshal(in); err == nil {
			t.raw = b
		}
	}
	if u.RawOutput != nil {
		t.output = u.RawOutput
	}
	if u.Content != nil {
		t.content = contentText(u.Content)
	}
}

// contentText returns the text of a call's content.
func contentText(content []acpsdk.ToolCallContent) string {
	var texts []string
	for _, c := range content {
		if c.Content != nil && c.Content.Content.Text != nil {
			texts = append(texts, c.Content.Content.Text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// startTool emits the tool_start of a call once.
func (x *session) startTool(t *tool) {
	if t.started {
		return
	}
	t.started = true
	d := event.ToolStart{ToolUseID: string(t.id), Tool: cmp.Or(t.title, string(t.kind)), Input: t.raw}
	if len(t.input) == 0 {
		x.MarkUnsupported("tool_start.input")
	}
	if !isModelID(string(t.id)) {
		x.MarkUnsupported("tool_start.tool_use_id")
	}
	d.Command = commandText(t.input["command"])
	for _, name := range []string{"file_path", "path", "filePath", "abs_path"} {
		if s, ok := t.input[name].(string); ok && d.FilePath == "" {
			d.FilePath = s
		}
	}
	if len(t.locations) > 0 && d.FilePath == "" {
		d.FilePath = t.locations[0].Path
	}
	d.Pattern, _ = t.input["pattern"].(string)
	x.Emit(d)
}

// isModelID reports whether an id has the form of a call id of a model's API. An
// agent may use other ids: ACP does not restrict them.
func isModelID(id string) bool {
	return slices.ContainsFunc(runtimes.ToolPrefixes(), func(prefix string) bool { return strings.HasPrefix(id, prefix) })
}

// commandText returns a command as text. Some agents send it as a list.
func commandText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var out []string
		for _, w := range v {
			if s, ok := w.(string); ok {
				out = append(out, s)
			}
		}
		return strings.Join(out, " ")
	}
	return ""
}

// endTool emits the tool_result of a call.
func (x *session) endTool(t *tool, s event.ToolStatus) {
	t.ended = true
	out, exact := outputText(t.output)
	if !exact {
		out = t.content
		if s == event.ToolOK || s == event.ToolError {
			x.MarkUnsupported("tool_result.output") // content is meant for people
		}
	}
	x.Emit(event.ToolResult{ToolUseID: string(t.id), Output: out, IsError: s != event.ToolOK, Status: s})
}

// outputText returns the text of a rawOutput, if its form is known.
func outputText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		var texts []string
		for _, c := range v {
			m, ok := c.(map[string]any)
			s, text := m["text"].(string)
			if !ok || !text {
				return "", false
			}
			texts = append(texts, s)
		}
		return strings.Join(texts, "\n"), true
	case map[string]any:
		for _, name := range []string{"formatted_output", "output", "aggregatedOutput"} {
			if s, ok := v[name].(string); ok {
				return s, true
			}
		}
	}
	return "", false
}
