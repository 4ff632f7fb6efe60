package uistream

import (
	"cmp"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// tool is a call of a tool.
type tool struct {
	output   strings.Builder
	url      string // the page that it fetches
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
	if u.tools[id] != nil { // a request started it
		return out
	}
	u.tools[id] = &tool{}
	u.order = append(u.order, id)
	if input == nil {
		input = event.Raw("{}")
	}
	name = cmp.Or(name, "unknown")
	return append(out,
		Chunk{Type: "tool-input-start", ToolCallID: id, ToolName: name, Dynamic: true},
		Chunk{Type: "tool-input-available", ToolCallID: id, ToolName: name, Dynamic: true, Input: input})
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
	return append(out, Chunk{Type: "tool-output-available", ToolCallID: d.ToolUseID, Dynamic: true, Preliminary: true, Output: &text})
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
		c.Output = &text
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
