package acpagent

import (
	"cmp"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters/event"
)

// output is what the client receives for an event. One of the fields is set, or none.
type output struct {
	update   *acpsdk.SessionUpdate
	request  *request
	resolved string // the id of a request that was answered
	reply    *reply // to the prompt of the event's turn
}

// reply is the answer to a prompt: a response or an error.
type reply struct {
	response acpsdk.PromptResponse
	err      *acpsdk.RequestError
}

// translator makes what the client receives of the events of a session.
type translator struct {
	mode  string // the id of the mode that the client knows of
	calls map[string]*call
	usage *acpsdk.Usage   // of the turn
	said  map[string]bool // the blocks of text of the turn
}

// call is a call of a tool that has no result.
type call struct {
	title  string
	output strings.Builder // so far
}

// translate returns what the client receives for the next event.
func (t *translator) translate(e event.Event) output {
	switch d := e.Data.(type) {
	case event.PermissionRequest:
		title := d.ToolName
		if c := t.calls[d.ToolUseID]; c != nil {
			title = c.title
		}
		return output{request: permissionRequest(d, title)}
	case event.PermissionResolved:
		return output{resolved: d.RequestID}
	case event.Interrupt:
		return output{request: questionRequest(d)}
	case event.InterruptResolved:
		return output{resolved: d.InterruptID}
	}
	if e.SubagentID != "" {
		return output{}
	}
	switch d := e.Data.(type) {
	case event.TurnStart:
		t.usage, t.said = nil, map[string]bool{}
	case event.BlockEnd:
		if d.Status == event.BlockRetracted {
			delete(t.said, d.BlockID)
		}
	case event.Result:
		if len(t.said) == 0 && d.Text != "" { // else it repeats the text
			return updated(acpsdk.UpdateAgentMessageText(d.Text))
		}
	case event.Delta:
		if t.said != nil {
			t.said[d.BlockID] = true
		}
		return updated(acpsdk.UpdateAgentMessageText(d.Text))
	case event.Thinking:
		if d.Text != "" {
			return updated(acpsdk.UpdateAgentThoughtText(d.Text))
		}
	case event.ToolStart:
		if t.calls == nil {
			t.calls = map[string]*call{}
		}
		t.calls[d.ToolUseID] = &call{title: titleOf(d)}
		return updated(startOf(d))
	case event.ToolOutput:
		if c := t.calls[d.ToolUseID]; c != nil {
			c.output.WriteString(d.Text)
		}
	case event.ToolResult:
		if c := t.calls[d.ToolUseID]; c != nil && d.Output == "" { // some runtimes do not repeat it
			d.Output = c.output.String()
		}
		delete(t.calls, d.ToolUseID)
		return updated(resultOf(d))
	case event.Plan:
		return updated(planOf(d))
	case event.ModeChanged:
		return t.changeMode(d.Value)
	case event.Usage:
		if d.Scope == event.ScopeTurn {
			t.usage = usageOf(d)
		}
	case event.Done:
		reason := acpsdk.StopReasonEndTurn
		if d.Stopped {
			reason = acpsdk.StopReasonCancelled
		}
		return output{reply: &reply{response: acpsdk.PromptResponse{StopReason: reason, Usage: t.usage}}}
	case event.Error:
		data := map[string]any{"code": string(d.Code), "error": d.Message}
		if d.Code == event.ErrorAuth {
			return output{reply: &reply{err: acpsdk.NewAuthRequired(data)}}
		}
		return output{reply: &reply{err: acpsdk.NewInternalError(data)}}
	}
	return output{}
}

func updated(u acpsdk.SessionUpdate) output { return output{update: &u} }

// changeMode reports a mode that the client did not choose: the reply to session/set_mode
// was about another one.
func (t *translator) changeMode(value string) output {
	id := modeID(value)
	known := t.mode == id
	t.mode = id
	if known || id == "" {
		return output{}
	}
	return updated(acpsdk.SessionUpdate{CurrentModeUpdate: &acpsdk.SessionCurrentModeUpdate{CurrentModeId: acpsdk.SessionModeId(id), SessionUpdate: "current_mode_update"}})
}

func usageOf(d event.Usage) *acpsdk.Usage {
	cached, reasoning := int(d.Tokens.Cached), int(d.Tokens.Reasoning)
	return &acpsdk.Usage{
		InputTokens: int(d.Tokens.Input), OutputTokens: int(d.Tokens.Output), TotalTokens: int(d.Tokens.Total), CachedReadTokens: &cached, ThoughtTokens: &reasoning,
	}
}

// kindOf returns the kind of a call.
func kindOf(d event.ToolStart) acpsdk.ToolKind {
	switch {
	case d.Command != "":
		return acpsdk.ToolKindExecute
	case d.IsFileRead:
		return acpsdk.ToolKindRead
	case d.Pattern != "" || d.Query != "":
		return acpsdk.ToolKindSearch
	case d.URL != "":
		return acpsdk.ToolKindFetch
	case d.FilePath != "":
		return acpsdk.ToolKindEdit
	}
	return acpsdk.ToolKindOther
}

// titleOf returns what the client shows of a call.
func titleOf(d event.ToolStart) string {
	return strings.TrimSpace(cmp.Or(d.Command, d.Tool+" "+cmp.Or(d.FilePath, d.Pattern, d.Query, d.URL, d.SubagentName)))
}

func startOf(d event.ToolStart) acpsdk.SessionUpdate {
	options := []acpsdk.ToolCallStartOpt{acpsdk.WithStartKind(kindOf(d)), acpsdk.WithStartStatus(acpsdk.ToolCallStatusInProgress)}
	if d.Input != nil {
		options = append(options, acpsdk.WithStartRawInput(d.Input))
	}
	if d.FilePath != "" {
		options = append(options, acpsdk.WithStartLocations([]acpsdk.ToolCallLocation{{Path: d.FilePath}}))
	}
	return acpsdk.StartToolCall(acpsdk.ToolCallId(d.ToolUseID), titleOf(d), options...)
}

func resultOf(d event.ToolResult) acpsdk.SessionUpdate {
	status := acpsdk.ToolCallStatusCompleted
	if d.Status != event.ToolOK && d.Status != event.ToolBackgrounded {
		status = acpsdk.ToolCallStatusFailed
	}
	return acpsdk.UpdateToolCall(acpsdk.ToolCallId(d.ToolUseID), acpsdk.WithUpdateStatus(status), acpsdk.WithUpdateRawOutput(d.Output),
		acpsdk.WithUpdateContent([]acpsdk.ToolCallContent{acpsdk.ToolContent(acpsdk.TextBlock(d.Output))}))
}

func planOf(d event.Plan) acpsdk.SessionUpdate {
	entries := []acpsdk.PlanEntry{}
	for _, step := range d.Steps {
		entries = append(entries, acpsdk.PlanEntry{Content: step.Text, Priority: acpsdk.PlanEntryPriorityMedium, Status: acpsdk.PlanEntryStatus(step.Status)})
	}
	return acpsdk.UpdatePlan(entries...)
}
