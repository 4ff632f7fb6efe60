package agentui

import (
	"cmp"
	"fmt"

	"github.com/turnspec/turnspec/adapters/event"
)

func (t *Translator) tool(e event.Event) []Event {
	switch d := e.Data.(type) {
	case event.ToolStart:
		input := d.Input
		d.Input = nil
		start := kind{"tool.started", "tool", "tool_call", "acting"}.with(d)
		args := kind{"tool.args", "model", "tool_call", "acting"}.with(struct {
			Input event.Raw `json:"input"`
		}{input})
		start.ToolCallID, args.ToolCallID = d.ToolUseID, d.ToolUseID
		if input == nil {
			return one(start)
		}
		return []Event{start, args}
	case event.ToolOutput:
		t.outputs[e.SubagentID+"/"+d.ToolUseID] += d.Text
		out := kind{"tool.output.delta", "tool", "tool_call", "acting"}.with(piece{Text: d.Text})
		out.ToolCallID = d.ToolUseID
		return one(out)
	case event.ToolProgress:
		out := kind{"tool.progress", "tool", "tool_call", "acting"}.with(d)
		out.ToolCallID = d.ToolUseID
		return one(out)
	case event.ToolResult:
		key := e.SubagentID + "/" + d.ToolUseID
		d.Output = cmp.Or(d.Output, t.outputs[key])
		delete(t.outputs, key)
		k := kind{"tool.failed", "tool", "tool_call", "failed"}
		switch d.Status {
		case event.ToolOK, event.ToolBackgrounded:
			k.class, k.phase = "tool.result", "completed"
		case event.ToolInterrupted:
			k.phase = "interrupted"
		case event.ToolDenied:
			k.phase = "cancelled"
		}
		changes := d.Changes
		d.Changes = nil // artifacts name them
		out := k.with(d)
		out.ToolCallID = d.ToolUseID
		return append([]Event{out}, t.artifacts(e, d.ToolUseID, changes)...)
	}
	return nil
}

// artifacts names the files that a tool changed.
func (t *Translator) artifacts(e event.Event, tool string, changes []event.FileChange) []Event {
	var out []Event
	for _, c := range changes {
		path := cmp.Or(c.MoveTo, c.Path)
		t.versions[path]++
		ref := fmt.Sprintf("%s#%d", e.SessionID, e.Seq)
		add := func(class string) {
			one := kind{class, "artifact", "artifact", "producing"}.with(struct {
				Path   string           `json:"path"`
				Kind   event.ChangeKind `json:"kind"`
				MoveTo string           `json:"move_to,omitempty"`
			}{c.Path, c.Kind, c.MoveTo})
			one.ArtifactID, one.ArtifactKind, one.ToolCallID, one.Persistence = path, "file", tool, "artifact_store"
			one.ArtifactVersionID, one.ArtifactReadRef = fmt.Sprintf("%s@%d", path, t.versions[path]), ref
			if class == "artifact.diff.ready" {
				one.ArtifactDiffRef = ref
			}
			out = append(out, one)
		}
		switch c.Kind {
		case event.ChangeAdd:
			add("artifact.created")
		case event.ChangeDelete:
			add("artifact.deleted")
			continue
		default:
			add("artifact.updated")
		}
		add("artifact.version.created")
		if c.Diff != "" {
			add("artifact.diff.ready")
		}
	}
	return out
}

// required is the payload of action.required.
type required[T any] struct {
	ActionType string `json:"action_type"`
	Request    T      `json:"request"`
}

func (t *Translator) act(e event.Event) []Event {
	switch d := e.Data.(type) {
	case event.PermissionRequest:
		t.asked[d.RequestID] = action{d.ToolUseID}
		out := kind{"action.required", "action", "action_request", "waiting"}.with(required[event.PermissionRequest]{"tool_approval", d})
		out.ActionID, out.ToolCallID, out.Control, out.RuntimeStatus = d.RequestID, d.ToolUseID, "approve", "needs_input"
		return one(out)
	case event.PermissionResolved:
		out := kind{"action.resolved", "action", "action_request", phaseOf(d.By)}.with(d)
		out.ActionID, out.ToolCallID, out.Control = d.RequestID, t.asked[d.RequestID].tool, "approve"
		if !d.Allowed {
			out.Control = "reject"
		}
		proof := kind{"evidence.changed", "evidence", "evidence", "completed"}.with(d)
		proof.EvidenceID, proof.ActionID, proof.ToolCallID = "approval/"+d.RequestID, d.RequestID, out.ToolCallID
		delete(t.asked, d.RequestID)
		return []Event{out, proof}
	case event.Interrupt:
		k := kind{"action.required", "action", "action_request", "waiting"}
		what := "structured_input"
		if d.ComponentName == "ExitPlanMode" {
			what = "plan_decision"
		}
		out := k.with(required[event.Interrupt]{what, d})
		out.ActionID, out.Control, out.Surface, out.RuntimeStatus = d.InterruptID, "answer", d.Surface, "needs_input"
		return one(out)
	case event.InterruptResolved:
		out := kind{"action.resolved", "action", "action_request", phaseOf(d.By)}.with(d)
		out.ActionID, out.Control = d.InterruptID, "answer"
		return one(out)
	}
	return nil
}

// phaseOf returns the phase of an answer.
func phaseOf(by event.By) string {
	if by == event.ByWithdrawn {
		return "cancelled"
	}
	return "completed"
}
