package uistream

import (
	"cmp"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// tool is a call of a tool.
type tool struct {
	output   strings.Builder
	url      string // the page that it fetches
	name     string
	writing  bool // the model writes its input
	ended    bool
	denied   bool          // by the answer to a tool-approval-request
	requests []*permission // those for which there was one
}

// toolData is the data of data-tool.
type toolData struct {
	Status     event.ToolStatus   `json:"status"`
	IsError    bool               `json:"is_error,omitzero"`
	ExitCode   *int               `json:"exit_code,omitzero"`
	Changes    []event.FileChange `json:"changes,omitempty"`
	FilePath   string             `json:"file_path,omitempty"`
	IsFileRead bool               `json:"is_file_read,omitzero"`
	Truncated  bool               `json:"truncated,omitzero"`
	Media      []event.Media      `json:"media,omitempty"`
}

func (u *turn) startTool(id, name string, input event.Raw) []Chunk {
	out := u.endPart("")
	t := u.tools[id]
	if t != nil && !t.writing { // a request started it
		return out
	}
	if t == nil {
		out = append(out, u.startInput(id, name))
		t = u.tools[id]
	}
	t.writing = false
	if input == nil {
		input = event.Raw("{}")
	}
	return append(out, Chunk{Type: "tool-input-available", ToolCallID: id, ToolName: t.name, Dynamic: true, Input: input})
}

// startInput announces a call.
func (u *turn) startInput(id, name string) Chunk {
	u.tools[id] = &tool{name: cmp.Or(name, "unknown")}
	u.order = append(u.order, id)
	return Chunk{Type: "tool-input-start", ToolCallID: id, ToolName: u.tools[id].name, Dynamic: true}
}

// addInput adds a piece of the input of a call that the model writes.
func (u *turn) addInput(d event.ToolInput) []Chunk {
	t := u.tools[d.ToolUseID]
	var out []Chunk
	switch {
	case t == nil && d.Dropped, t != nil && !t.writing:
		return nil
	case d.Dropped:
		return []Chunk{u.dropInput(d.ToolUseID)}
	case t == nil:
		out = append(u.endPart(""), u.startInput(d.ToolUseID, d.Tool))
		u.tools[d.ToolUseID].writing = true
	}
	if d.Text != "" {
		out = append(out, Chunk{Type: "tool-input-delta", ToolCallID: d.ToolUseID, InputTextDelta: d.Text})
	}
	return out
}

// dropInput ends a call that the model does not finish.
func (u *turn) dropInput(id string) Chunk {
	t := u.tools[id]
	t.writing, t.ended = false, true
	return Chunk{
		Type: "tool-input-error", ToolCallID: id, ToolName: t.name, Dynamic: true, Input: event.Raw("{}"), ErrorText: "the model did not finish the call",
		takesBack: &takenBack{tool: id},
	}
}

func (u *turn) addOutput(d event.ToolOutput) []Chunk {
	t := u.tools[d.ToolUseID]
	if d.Text == "" || t != nil && t.ended {
		return nil
	}
	var out []Chunk
	if t == nil {
		out = u.startTool(d.ToolUseID, "", nil)
		t = u.tools[d.ToolUseID]
	}
	t.output.WriteString(d.Text)
	text := t.output.String()
	return append(out, Chunk{Type: "tool-output-available", ToolCallID: d.ToolUseID, Dynamic: true, Preliminary: true, Output: dialect.Marshal(text)})
}

func (u *turn) endTool(d event.ToolResult) []Chunk {
	t := u.tools[d.ToolUseID]
	var out []Chunk
	if t == nil {
		out = u.startTool(d.ToolUseID, "", nil)
		t = u.tools[d.ToolUseID]
	}
	if t.ended {
		return nil
	}
	t.ended = true
	for _, p := range t.requests {
		if p.asked { // a stop ends tools before it withdraws their requests
			out = append(out, t.respond(p, d.Status == event.ToolOK || d.Status == event.ToolError || d.Status == event.ToolBackgrounded))
		}
	}
	text := cmp.Or(d.Output, t.output.String())
	c := Chunk{Type: "tool-output-available", ToolCallID: d.ToolUseID, Dynamic: true}
	switch {
	case t.denied:
		c = Chunk{Type: "tool-output-denied", ToolCallID: d.ToolUseID}
	case d.Status == event.ToolError || d.Status == event.ToolDenied || d.Status == event.ToolInterrupted:
		c.Type, c.ErrorText = "tool-output-error", cmp.Or(text, string(d.Status))
	default:
		c.Output = dialect.Marshal(text)
	}
	more := toolData{d.Status, d.IsError, d.ExitCode, d.Changes, d.FilePath, d.IsFileRead, d.Truncated, d.Media}
	plain := d.Status == event.ToolOK || d.Status == event.ToolError
	if !plain || t.denied || d.Truncated || len(d.Media) > 0 || d.ExitCode != nil || len(d.Changes) > 0 || d.FilePath != "" || d.IsFileRead || d.IsError != (d.Status == event.ToolError) {
		out = append(out, data("tool", d.ToolUseID, event.Event{}, more))
	}
	out = append(out, c)
	if t.url != "" && d.Status == event.ToolOK {
		out = append(out, Chunk{Type: "source-url", SourceID: d.ToolUseID, URL: t.url})
	}
	return out
}
