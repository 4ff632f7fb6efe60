package acp

import (
	stdjson "encoding/json"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters/event"
)

// tool is a call of which the agent has told.
type tool struct {
	id        acpsdk.ToolCallId
	title     string
	kind      acpsdk.ToolKind
	input     map[string]any
	raw       event.Raw // the input
	locations []acpsdk.ToolCallLocation
	content   string // what stands in its content, as text
	output    any    // rawOutput
	started   bool
	ended     bool
}

// call takes a tool_call, an update to one, or what a permission request says
// of one.
func (x *session) call(u *acpsdk.SessionToolCallUpdate, first bool) {
	t := x.tools[u.ToolCallId]
	if t == nil && !first {
		// The protocol knows an update only of a call that was told. What the
		// client would show is a result without its call.
		t = &tool{id: u.ToolCallId, started: true}
		x.tools[t.id], x.order = t, append(x.order, t.id)
	}
	if t == nil || first && t.ended {
		t = &tool{id: u.ToolCallId}
		x.tools[t.id], x.order = t, append(x.order, t.id)
		x.endThought()
		x.endBlock(event.BlockComplete)
	}
	t.take(u)
	status := acpsdk.ToolCallStatus("")
	if u.Status != nil {
		status = *u.Status
	}
	if len(t.input) > 0 || status != "" && status != acpsdk.ToolCallStatusPending || !first && t.content != "" {
		x.start(t)
	}
	if t.ended {
		return // a word about a call that is over: its title, its places
	}
	switch status {
	case acpsdk.ToolCallStatusCompleted:
		x.end(t, event.ToolOK)
	case acpsdk.ToolCallStatusFailed:
		if x.cancelled {
			x.end(t, event.ToolInterrupted) // the protocol has no other word for it
			return
		}
		x.end(t, event.ToolError)
	}
}

// take keeps what an update says.
func (t *tool) take(u *acpsdk.SessionToolCallUpdate) {
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
		t.content = textOf(u.Content)
	}
}

// textOf is the text of a call's content.
func textOf(content []acpsdk.ToolCallContent) string {
	var texts []string
	for _, c := range content {
		if c.Content != nil && c.Content.Content.Text != nil {
			texts = append(texts, c.Content.Content.Text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// start tells a call, once.
func (x *session) start(t *tool) {
	if t.started {
		return
	}
	t.started = true
	d := event.ToolStart{ToolUseID: string(t.id), Tool: t.title, Input: t.raw}
	if d.Tool == "" {
		d.Tool = string(t.kind)
	}
	if len(t.input) == 0 {
		x.lacks["tool_start.input"] = true
	}
	if !modelsOwn(string(t.id)) {
		x.lacks["tool_start.tool_use_id"] = true
	}
	d.Command = words(t.input["command"])
	for _, name := range []string{"file_path", "path", "filePath", "abs_path"} {
		if s, ok := t.input[name].(string); ok && d.FilePath == "" {
			d.FilePath = s
		}
	}
	if len(t.locations) > 0 && d.FilePath == "" {
		d.FilePath = t.locations[0].Path
	}
	d.Pattern, _ = t.input["pattern"].(string)
	x.emit(d)
}

// modelsOwn reports whether an id looks like one that a model's API gives to a
// call: the protocol lets an agent choose its own.
func modelsOwn(id string) bool {
	for _, prefix := range []string{"toolu_", "call_", "ws_"} {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}

// words are a command: some agents give it as a list.
func words(v any) string {
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

// end tells the result of a call, once.
func (x *session) end(t *tool, s event.ToolStatus) {
	t.ended = true
	out, exact := output(t.output)
	if !exact {
		out = t.content
		if s == event.ToolOK || s == event.ToolError {
			x.lacks["tool_result.output"] = true // content is made for people
		}
	}
	x.emit(event.ToolResult{ToolUseID: string(t.id), Output: out, IsError: s != event.ToolOK, Status: s})
}

// output is the text of a rawOutput, where its form is known.
func output(v any) (string, bool) {
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
